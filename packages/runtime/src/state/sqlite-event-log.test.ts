import { rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { describeEventLog } from "../testing/event-log-contract.ts";
import { createSqliteEventLog } from "./sqlite-event-log.ts";

const folder = await mkdtemp(join(tmpdir(), "keelson-log-"));
afterAll(() => rmSync(folder, { recursive: true }));
let files = 0;
const newPath = (): string => join(folder, `${++files}.db`);

describeEventLog("createSqliteEventLog", (now) => createSqliteEventLog({ path: newPath(), now }));

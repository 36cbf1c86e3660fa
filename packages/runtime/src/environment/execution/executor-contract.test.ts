import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { describeExecutor } from "../../testing/executor-contract.ts";
import { createProcessExecutor } from "./process-executor.ts";

const cwd = mkdtempSync(join(tmpdir(), "keelson-executor-"));
afterAll(() => rmSync(cwd, { recursive: true }));

describeExecutor("the process executor", { create: () => createProcessExecutor({ cwd, killGraceMs: 200 }), terminals: true });

import { rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { describeBudgetLedger } from "../testing/budget-ledger-contract.ts";
import { createSqliteBudgetLedger } from "./sqlite-budget-ledger.ts";

const folder = await mkdtemp(join(tmpdir(), "keelson-ledger-"));
afterAll(() => rmSync(folder, { recursive: true }));
let files = 0;
const newPath = (): string => join(folder, `${++files}.db`);

describeBudgetLedger("createSqliteBudgetLedger", (options) =>
  createSqliteBudgetLedger({ path: newPath(), durability: "process", ...options }),
);
it("x", () => expect(1).toBe(1));

import { rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { LogError, usd } from "@keelson/protocol";
import { afterAll, expect, it } from "vitest";
import { describeBudgetLedger } from "../../testing/budget-ledger-contract.ts";
import { REMEMBERED_RETIRED, REMEMBERED_SETTLEMENTS } from "../kit/budget-ledger-terms.ts";
import { openSqliteDatabase } from "./sqlite-database.ts";
import { createSqliteBudgetLedger } from "./sqlite-budget-ledger.ts";
import { createSqliteEventLog } from "./sqlite-event-log.ts";

const folder = await mkdtemp(join(tmpdir(), "keelson-ledger-"));
afterAll(() => rmSync(folder, { recursive: true }));
let files = 0;
const newPath = (): string => join(folder, `${++files}.db`);
const RUN = { id: "run", maxCost: usd("1") };
const open = (path = newPath(), options: object = {}) => createSqliteBudgetLedger({ path, durability: "process", ...options });

describeBudgetLedger("createSqliteBudgetLedger", (options) => open(newPath(), options));

it("keeps what is spent, held and waited for in the file, for whoever opens it next", async () => {
  const path = newPath();
  {
    await using ledger = open(path);
    await ledger.reserve("spent", [{ id: "run" }], { cost: usd("0.000000000001"), tokens: 5 });
    await ledger.settle("spent", { cost: usd("0.000000000001"), tokens: 5 });
    await ledger.reserve("held", [RUN], usd("0.6"));
    await ledger.reserve("waits", [RUN], usd("0.9"), { inTurn: true });
  }
  await using again = open(path);
  expect(await again.used("run")).toEqual({ cost: "0.000000000001", tokens: 5, turns: 0, toolCalls: 0, modelCalls: 0 });
  expect(await again.reserve("other", [RUN], usd("0.1"))).toMatchObject({ type: "wait", available: "0" });
  await again.release("waits");
  expect(await again.reserve("other", [RUN], usd("0.4"))).toMatchObject({ type: "wait", available: "0.399999999999" });
  await again.settle("held", usd("0.5"));
  await again.settle("spent", { cost: usd("0.000000000001"), tokens: 5 });
  expect(await again.spent("run")).toBe("0.500000000001");
});

it("has the name of its file, under whatever path, and another than every other file", async () => {
  const path = newPath();
  await using a = open(path);
  await using b = open(path);
  await using other = open();
  expect(a.id).toBe(b.id);
  expect(other.id).not.toBe(a.id);
});

it("counts money that outgrows 64 bits", async () => {
  await using ledger = open();
  const much = usd("123456789012345.000000000001");
  for (const key of ["a", "b"]) {
    await ledger.reserve(key, [{ id: "run" }], much);
    await ledger.settle(key, much);
  }
  expect(await ledger.spent("run")).toBe("246913578024690.000000000002");
});

it("comes with a log in the same file, and ends with it", async () => {
  const path = newPath();
  const log = createSqliteEventLog({ path });
  const { ledger } = log;
  await ledger?.reserve("a", [RUN], usd("0.5"));
  await using other = open(path);
  await other.settle("a", usd("0.5"));
  expect(await ledger?.spent("run")).toBe("0.5");
  await log[Symbol.asyncDispose]();
  await expect(ledger?.spent("run")).rejects.toMatchObject({ failure: { kind: "closed" } });
  expect(await other.spent("run")).toBe("0.5");
});

it("ends the waits of those who wait when it is disposed of, and takes nothing more", async () => {
  const ledger = open();
  await ledger.reserve("a", [RUN], usd("1"));
  await ledger.reserve("b", [RUN], usd("1"), { inTurn: true });
  const { signal } = new AbortController();
  const waits = [ledger.changed(["run"], { signal }), ledger.changed(["run"], { signal, key: "b" })];
  await ledger[Symbol.asyncDispose]();
  for (const wait of waits) await expect(wait).rejects.toMatchObject({ failure: { kind: "closed" } });
  for (const act of [ledger.reserve("c", [RUN], usd("0")), ledger.settle("a", usd("0")), ledger.release("a"), ledger.used("run")])
    expect(LogError.is(await act.catch((error: unknown) => error), "closed")).toBe(true);
});

it("looks for what other processes did while somebody waits, and only then", async () => {
  const path = newPath();
  const polls = new Map<() => void, number>();
  const poll = (tick: () => void, everyMs: number): (() => void) => {
    polls.set(tick, everyMs);
    return () => polls.delete(tick);
  };
  await using ledger = open(path, { poll, pollMs: 7 });
  await ledger.reserve("a", [RUN], usd("1"));
  await ledger.reserve("b", [RUN], usd("1"), { inTurn: true });
  expect(polls.size).toBe(0);
  const { signal } = new AbortController();
  let woken = false;
  const wait = ledger.changed(["run"], { signal, key: "b" }).then(() => (woken = true));
  expect([...polls.values()].sort((a, b) => a - b)).toEqual([7, 1000]);
  const other = new DatabaseSync(path);
  const look = async (): Promise<void> => {
    for (const tick of polls.keys()) tick();
    await new Promise((resolve) => setImmediate(resolve));
  };
  other.exec("UPDATE counters SET syncs = syncs + 1");
  await look();
  expect(woken).toBe(false);
  other.exec("UPDATE budget_scopes SET changes = changes + 1");
  await look();
  await wait;
  expect(polls.size).toBe(0);
  other.close();
});

it("forgets settlements and retired scopes that are long gone, and nothing that counts", async () => {
  const path = newPath();
  await using ledger = open(path);
  const database = openSqliteDatabase(path);
  const count = (table: string): unknown => database.connection.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.["n"];
  await ledger.reserve("first", [RUN], usd("0.5"));
  await ledger.settle("first", usd("0.5"));
  await ledger.reserve("scope", [{ id: "old" }], usd("0.1"));
  await ledger.settle("scope", usd("0.1"));
  await ledger.retire("old");
  database.connection.exec(`
    UPDATE sqlite_sequence SET seq = ${REMEMBERED_SETTLEMENTS + 256 * 2 - 1 - (REMEMBERED_SETTLEMENTS % 256)} WHERE name = 'budget_settlements';
    UPDATE sqlite_sequence SET seq = ${REMEMBERED_RETIRED + 64 * 2 - 1 - (REMEMBERED_RETIRED % 64)} WHERE name = 'budget_retired';
  `);
  await ledger.reserve("last", [{ id: "new" }], usd("0.1"));
  await ledger.settle("last", usd("0.1"));
  await ledger.retire("new");
  expect(count("budget_settlements")).toBe(1);
  expect([await ledger.spent("run"), await ledger.spent("old"), await ledger.spent("new")]).toEqual(["0.5", "0", "0.1"]);
  database.close();
});

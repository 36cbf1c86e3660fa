// What one file of SQLite takes, with everything on disk before it is told: node --conditions=source packages/restate/scale/measure-stores.ts
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sessionLog, usd } from "@keelson/protocol";
import { createSqliteEventLog } from "keelson/state";

const SECONDS = 3;
const directory = mkdtempSync(join(tmpdir(), "keelson-stores-"));
const log = createSqliteEventLog(join(directory, "sessions.db"));

/** How often per second it can be done, by so many who each do it one time after the other. */
async function perSecond(callers: number, act: (caller: number, round: number) => Promise<unknown>): Promise<number> {
  const end = performance.now() + SECONDS * 1000;
  let done = 0;
  await Promise.all(
    Array.from({ length: callers }, async (_, caller) => {
      for (let round = 0; performance.now() < end; round++, done++) await act(caller, round);
    }),
  );
  return Math.round(done / SECONDS);
}

const text = "x".repeat(1500);
const append = (name: string) => (caller: number, round: number) =>
  log.append(sessionLog(`${name}${caller}`), "any", [{ key: `r/${round}`, type: "note", data: { text } }], { durability: "power" });
const pay = (name: string) => async (caller: number, round: number) => {
  const key = `${name}/${caller}/${round}`;
  await log.ledger.reserve(key, [{ id: name, maxCost: usd("1000000000") }], { cost: usd("0.01"), tokens: 1000 });
  await log.ledger.settle(key, { cost: usd("0.001"), tokens: 100 });
};
console.log(
  JSON.stringify(
    {
      "appends of one session per second": await perSecond(1, append("one")),
      "appends of 200 sessions per second": await perSecond(200, append("many")),
      "model calls on one budget per second, one after the other": await perSecond(1, pay("a")),
      "model calls on one budget per second, 200 at once": await perSecond(200, pay("b")),
    },
    undefined,
    2,
  ),
);
await log[Symbol.asyncDispose]();
rmSync(directory, { recursive: true });

// Reserves one amount on the ledger in the file given and says so, then does what it is told: "settle <amount>" or "release".
import { createInterface } from "node:readline";
import { writeSync } from "node:fs";
import { usd } from "@keelson/protocol";
import { createSqliteBudgetLedger } from "../../src/state/index.ts";

const [path = "", key = "", amount = ""] = process.argv.slice(2);
await using ledger = createSqliteBudgetLedger({ path, durability: "process" });
const scopes = [{ id: "shared", maxCost: usd("1") }];
const { type } = await ledger.reserve(key, scopes, usd(amount), { inTurn: true });
writeSync(1, `${type}\n`);
for await (const line of createInterface({ input: process.stdin })) {
  const [order, value = ""] = line.split(" ");
  if (order === "settle") await ledger.settle(key, usd(value));
  else await ledger.release(key);
  break;
}

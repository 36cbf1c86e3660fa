// Appends `count` records of its own and `count` that all writers share to one inbox, each of them twice.
import type { LogId } from "@keelson/protocol";
import { createSqliteEventLog } from "../../src/state/index.ts";

const [path = "", writer = "", count = ""] = process.argv.slice(2);
await using log = createSqliteEventLog(path);
for (let n = 0; n < Number(count); n++) {
  const own = { key: `${writer}-${n}`, type: "note", data: { writer, n } };
  const shared = { key: `shared-${n}`, type: "note", data: { n } };
  const durability = n % 10 === 0 ? "power" : "process";
  await log.append("session/a/inbox" as LogId, "any", [own], { durability });
  await Promise.all([
    log.append("session/a/inbox" as LogId, "any", [shared, own]),
    log.append("session/a/inbox" as LogId, "any", [shared]),
  ]);
}

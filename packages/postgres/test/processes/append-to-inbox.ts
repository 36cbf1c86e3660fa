// Appends `count` records of its own and `count` that all writers share to one inbox, each of them twice.
import type { LogId } from "@keelson/protocol";
import { createPostgres } from "@keelson/postgres";

const [connectionString = "", schema = "", writer = "", count = ""] = process.argv.slice(2);
await using stores = createPostgres({ connectionString, schema, maxConnections: 3 });
const { log } = stores;
for (let n = 0; n < Number(count); n++) {
  const own = { key: `${writer}-${n}`, type: "note", data: { writer, n } };
  const shared = { key: `shared-${n}`, type: "note", data: { n } };
  await log.append("session/a/inbox" as LogId, "any", [own]);
  await Promise.all([
    log.append("session/a/inbox" as LogId, "any", [shared, own]),
    log.append("session/a/inbox" as LogId, "any", [shared]),
  ]);
}

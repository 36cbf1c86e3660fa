// Seals what there is of a log again and again, and prints how many records it sealed.
import { writeSync } from "node:fs";
import type { LogId } from "@keelson/protocol";
import { createPostgres } from "@keelson/postgres";

const [connectionString = "", schema = ""] = process.argv.slice(2);
const { log } = createPostgres({ connectionString, schema, maxConnections: 2 });
for (;;) {
  const { records } = await log.seal("session/a" as LogId, { before: Number.MAX_SAFE_INTEGER });
  writeSync(1, `sealed ${records}\n`);
}

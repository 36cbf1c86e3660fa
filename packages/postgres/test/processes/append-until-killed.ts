// Takes the lease, then appends without end and prints the seq of the last record of each append once it has resolved.
import { writeSync } from "node:fs";
import type { LogId } from "@keelson/protocol";
import { createPostgres } from "@keelson/postgres";
import { processOwner } from "keelson/state";
import { randomNumbers } from "../../../runtime/test/processes/random-numbers.ts";

const [connectionString = "", schema = "", life = "", seed = ""] = process.argv.slice(2);
const random = randomNumbers(Number(seed));
const { log } = createPostgres({ connectionString, schema, maxConnections: 2 });
const id = "session/a" as LogId;
// An hour: the process killed before this one must be known to be dead, since nobody waits that long.
const lease = await log.acquire(id, { owner: processOwner(), ttlMs: 3_600_000 });
let head = await log.head(id);
writeSync(1, `start ${head}\n`);
for (let n = 0; ; n++) {
  const size = 1 + Math.floor(random() * 4);
  const records = Array.from({ length: size }, (_, index) => ({
    key: `${life}/${n}/${index}`,
    type: "note",
    data: { of: size, text: String(index).repeat(Math.floor(random() * (random() < 0.05 ? 200_000 : 500))) },
  }));
  ({ seq: head } = await log.append(id, head, records, { epoch: lease.epoch, durability: random() < 0.2 ? "power" : "process" }));
  writeSync(1, `${head} ${life}/${n}/${size - 1}\n`);
}

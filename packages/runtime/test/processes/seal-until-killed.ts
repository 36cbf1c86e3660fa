// Seals what there is of a log whenever something was appended to it, and prints how many records it sealed.
import { writeSync } from "node:fs";
import type { LogId } from "@keelson/protocol";
import { createSqliteEventLog } from "../../src/state/index.ts";

const [path = ""] = process.argv.slice(2);
const log = createSqliteEventLog(path);
const id = "session/a" as LogId;
// Who follows a log does not keep its process at work.
setInterval(() => {}, 60_000);
for (;;) {
  const after = await log.head(id);
  const { records } = await log.seal(id, { before: Number.MAX_SAFE_INTEGER });
  writeSync(1, `sealed ${records}\n`);
  for await (const _ of log.read(id, { after, follow: true })) break;
}

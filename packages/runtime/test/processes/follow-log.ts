// Prints the key of each record as it comes, and "waiting" when it has to wait for one, until its input ends.
import { writeSync } from "node:fs";
import type { LogId } from "@keelson/protocol";
import { createSqliteEventLog } from "../../src/state/index.ts";

const [path = ""] = process.argv.slice(2);
const stop = new AbortController();
process.stdin.on("end", () => stop.abort()).resume();
await using log = createSqliteEventLog({
  path,
  poll(tick, everyMs) {
    writeSync(1, "waiting\n");
    const timer = setInterval(tick, everyMs);
    return () => clearInterval(timer);
  },
});
for await (const { key } of log.read("session/a/inbox" as LogId, { follow: true, signal: stop.signal })) writeSync(1, `${key}\n`);
writeSync(1, "end\n");

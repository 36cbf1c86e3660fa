// Takes the lease whenever its clock says that the other's has ended, and writes under it, also when it may have lost it.
import { writeSync } from "node:fs";
import { LogError, type LogId } from "@keelson/protocol";
import { createSqliteEventLog } from "../../src/state/index.ts";
import { randomNumbers } from "./random-numbers.ts";

const [path = "", owner = "", rounds = "", seed = ""] = process.argv.slice(2);
const random = randomNumbers(Number(seed));
let clock = 0;
await using log = createSqliteEventLog({ path, now: () => clock });
const id = "session/a" as LogId;

for (let round = 0; round < Number(rounds); round++) {
  // No two processes agree on the time: sometimes a lease that is held looks as if it had ended.
  clock = Math.floor(random() * 200);
  try {
    const lease = await log.acquire(id, { owner, ttlMs: 100 });
    for (let n = 0; n < 5; n++) {
      const head = await log.head(id);
      // Others get time to take over between looking and writing.
      for (let turn = Math.floor(random() * 3); turn > 0; turn--) await new Promise(setImmediate);
      const { seq } = await log.append(id, head, [{ key: `${owner}/${round}/${n}`, type: "note", data: { owner, epoch: lease.epoch } }], {
        epoch: lease.epoch,
      });
      writeSync(1, `${seq} ${owner}/${round}/${n}\n`);
    }
  } catch (error) {
    if (!LogError.is(error, "lease-held") && !LogError.is(error, "stale-epoch") && !LogError.is(error, "conflict")) throw error;
    writeSync(1, `lost ${error.failure.kind}\n`);
  }
}

import { stat, utimes, writeFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

/**
 * A time later than that of every change before this call, in Unix ms as the kernel tells it of files. Its clock stands still for some
 * milliseconds: what changed just before could not be told from what changes next.
 *
 * @param marker a file that is made, and touched until its time goes on
 */
export async function timeAfterChanges(marker: string): Promise<number> {
  await writeFile(marker, "");
  const { ctimeMs: before } = await stat(marker);
  for (;;) {
    await utimes(marker, 0, 0);
    const { ctimeMs: now } = await stat(marker);
    // Also where the clock is set back meanwhile: what is later than it by then is of an unknown state.
    if (now !== before) return now;
    await sleep(1);
  }
}

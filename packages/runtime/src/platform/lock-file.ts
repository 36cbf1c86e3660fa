import { readFile, rm } from "node:fs/promises";
import { nodeCrypto } from "./node-crypto.ts";
import { createPrivateFile } from "./private-file.ts";
import { isDeadOwner, processOwner } from "./process-owner.ts";

/**
 * Takes a lock that is a file, which is there as long as it is held. One that a process of this machine left behind when it was killed is taken
 * over. @returns nothing where somebody else holds it
 * @param foundLeft is called where one was left behind, also when somebody else gets the lock after that
 */
export async function takeLock(path: string, foundLeft?: () => void): Promise<AsyncDisposable | undefined> {
  // No two holders write the same: who takes a lock over knows which one it is.
  const mine = `${processOwner(nodeCrypto().randomBytes(8).toString("hex"))}\n`;
  for (;;) {
    if (await createPrivateFile(path, mine)) return { [Symbol.asyncDispose]: () => rm(path, { force: true }) };
    const held = await content(path);
    if (held === undefined) continue;
    if (!isDeadOwner(held.trim())) return undefined;
    foundLeft?.();
    if (!(await removeDead(path, held))) return undefined;
  }
}

/**
 * Removes the lock that a dead process held, and no other: whoever would remove it holds a lock on that, so that nobody removes what the
 * next one has put in its place. @returns false where somebody else is about to
 */
async function removeDead(path: string, held: string): Promise<boolean> {
  await using claim = await takeLock(`${path}.${nodeCrypto().createHash("sha256").update(held).digest("hex").slice(0, 16)}`);
  if (claim === undefined) return false;
  if ((await content(path)) === held) await rm(path, { force: true });
  return true;
}

async function content(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

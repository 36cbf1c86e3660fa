import { linkSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createHash, randomBytes } from "node:crypto";
import { isDeadOwner, processOwner } from "keelson/state";

/**
 * Takes a lock that is a file, if it is free. The lock of a process that was killed is taken over. Unlike other locks it is not written to the disk: it is
 * taken for every command, and a machine that lost its power has no process that holds one.
 * @returns `undefined` if another process, or another part of this one, holds it
 */
export function takeProjectLock(path: string): Disposable | undefined {
  const mine = processOwner(randomBytes(8).toString("hex"));
  for (;;) {
    if (create(path, mine)) return { [Symbol.dispose]: () => rmSync(path, { force: true }) };
    const held = content(path);
    if (held === undefined) continue;
    if (!isDeadOwner(held)) return undefined;
    // Only one process removes the lock of the dead one, and no process the lock that the next one puts in its place.
    using claim = takeProjectLock(`${path}.${createHash("sha256").update(held).digest("hex").slice(0, 16)}`);
    if (claim === undefined) return undefined;
    if (content(path) === held) rmSync(path, { force: true });
  }
}

/** Makes the file whole or not at all. @returns false if there is one */
function create(path: string, text: string): boolean {
  const draft = `${path}.${randomBytes(6).toString("hex")}`;
  try {
    writeFileSync(draft, text, { mode: 0o600, flag: "wx" });
    try {
      linkSync(draft, path);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== "EPERM" && code !== "ENOTSUP" && code !== "EOPNOTSUPP") throw error;
      // The file system has no hard links.
      writeFileSync(path, text, { mode: 0o600, flag: "wx" });
    }
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    return false;
  } finally {
    rmSync(draft, { force: true });
  }
}

function content(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

import { constants } from "node:fs";
import { link, open, rename, rm, type FileHandle } from "node:fs/promises";
import { nodeCrypto } from "./node-crypto.ts";

export interface PrivateFileTerms {
  /** A file that is longer is refused before it is read. */
  readonly maxBytes: number;
  /** Whether others may read it, as they may where the system hands secrets out in files. Nobody else may ever change it. Default false. */
  readonly mayBeRead?: boolean;
  /** Makes the error of a file that can't be trusted. `problem` goes on after its path: "belongs to user 0, not to 1000, who runs this". */
  refuse(problem: string): Error;
}

/**
 * What stands in a file that is its owner's alone; `undefined` where there is none. Its mode is looked at on the open file, so that none can
 * be put in its place between the look and the reading.
 * @throws what `refuse` makes, and errors of the system
 */
export async function readPrivateFile(
  path: string,
  { maxBytes, mayBeRead = false, refuse }: PrivateFileTerms,
): Promise<Buffer | undefined> {
  let file: FileHandle;
  try {
    // What is no file, a pipe for one, must not be waited for.
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  try {
    const { mode, uid, size, isFile } = await shapeOf(file);
    if (!isFile) throw refuse("is no file");
    refuseShared({ mode, uid }, mayBeRead ? 0o022 : 0o077, path, refuse);
    if (size > maxBytes) throw refuse(`is longer than ${maxBytes} bytes`);
    const buffer = Buffer.alloc(maxBytes + 1);
    let length = 0;
    for (;;) {
      const { bytesRead } = await file.read(buffer, length, buffer.length - length);
      if (bytesRead === 0) break;
      length += bytesRead;
      if (length > maxBytes) throw refuse(`is longer than ${maxBytes} bytes`);
    }
    return buffer.subarray(0, length);
  } finally {
    await file.close();
  }
}

/** Makes a file that its owner alone may read, whole or not at all. @returns false when there is one already, which is left as it is */
export async function createPrivateFile(path: string, content: string | Uint8Array): Promise<boolean> {
  // A hard link appears whole or not at all, and never replaces the file of a process that was faster.
  return withDraft(path, content, async (draft) => {
    try {
      await link(draft, path);
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
      return false;
    }
  });
}

/** Puts a file that its owner alone may read in the place of whatever stands there: whoever reads sees the old content or the new. */
export async function replacePrivateFile(path: string, content: string | Uint8Array): Promise<void> {
  await withDraft(path, content, (draft) => rename(draft, path));
}

async function withDraft<T>(path: string, content: string | Uint8Array, place: (draft: string) => Promise<T>): Promise<T> {
  const draft = `${path}.${nodeCrypto().randomBytes(6).toString("hex")}`;
  try {
    const file = await open(draft, "wx", 0o600);
    try {
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    return await place(draft);
  } finally {
    await rm(draft, { force: true });
  }
}

async function shapeOf(
  file: FileHandle,
): Promise<{ readonly mode: number; readonly uid: number; readonly size: number; readonly isFile: boolean }> {
  const stats = await file.stat();
  return { mode: stats.mode, uid: stats.uid, size: stats.size, isFile: stats.isFile() };
}

function refuseShared(
  { mode, uid }: { mode: number; uid: number },
  forbidden: number,
  path: string,
  refuse: (problem: string) => Error,
): void {
  // Windows keeps no such bits.
  if (process.platform === "win32") return;
  if ((mode & forbidden) !== 0) {
    const shown = (mode & 0o777).toString(8);
    throw refuse(
      `can be ${forbidden === 0o022 ? "changed" : "read or changed"} by others (mode ${shown}). Run: chmod ${forbidden === 0o022 ? "go-w" : "600"} ${path}`,
    );
  }
  const self = process.getuid?.();
  if (self !== undefined && self !== 0 && uid !== self && uid !== 0) throw refuse(`belongs to user ${uid}, not to ${self}, who runs this`);
}

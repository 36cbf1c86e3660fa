import { constants, createReadStream } from "node:fs";
import { access, open, rm } from "node:fs/promises";
import { resolve } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { exportSession, importSession, type ImportedSession } from "keelson/session";
import type { CommandHost } from "../core/command-host.ts";
import type { Stores } from "../core/stores.ts";
import { UsageError } from "../options/usage-error.ts";

/** Standard output in place of a file. */
export const STANDARD_OUTPUT = "-";

/** Writes a session to a new file that its owner alone may read, or to standard output. @returns the path of the file */
export async function exportToFile(stores: Stores, id: string, file: string, { cwd, stdout }: CommandHost): Promise<string> {
  const lines = exportSession({ log: stores.log, blobs: stores.blobs }, id);
  if (file === STANDARD_OUTPUT) {
    await pipeline(Readable.from(lines), stdout, { end: false });
    return file;
  }
  const path = resolve(cwd, file);
  // Asked for first, so that there is no file of a session that there is not.
  const first = await lines.next();
  const handle = await open(path, "wx", 0o600).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "EEXIST") throw new UsageError(`There is a file ${path} already`, "Give another name, or remove it first.");
    throw error;
  });
  try {
    if (first.done !== true) await handle.write(first.value);
    for await (const line of lines) await handle.write(line);
    await handle.sync();
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  } finally {
    await handle.close();
  }
  return path;
}

export async function importFromFile(stores: Stores, file: string, id: string | undefined, { cwd }: CommandHost): Promise<ImportedSession> {
  const path = resolve(cwd, file);
  await access(path, constants.R_OK).catch(() => {
    throw new UsageError(`The file ${path} can't be read`, "Give the path of a file that `keelson sessions export` wrote.");
  });
  return importSession({ log: stores.log, blobs: stores.blobs, id }, () => createReadStream(path));
}

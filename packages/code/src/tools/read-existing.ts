import { type Vfs, VfsError } from "@keelson/protocol";

/** Returns the content of a file. `undefined` if there is no file. */
export async function readExisting(files: Vfs, path: string, signal: AbortSignal): Promise<Uint8Array | undefined> {
  try {
    return (await files.read(path, { signal })).content;
  } catch (error) {
    if (VfsError.is(error, "not-found")) return undefined;
    throw error;
  }
}

import { type Vfs, VfsError } from "@keelson/protocol";
import { didYouMean } from "./similar-paths.ts";

/** Runs `work` on a path; when there is no such file, the error also says which ones there are. */
export async function explainMissing<T>(files: Vfs, path: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!VfsError.is(error, "not-found")) throw error;
    throw new VfsError(
      { kind: "not-found", path: error.failure.path, message: `No such file or folder: ${path}.${await didYouMean(files, path, signal)}` },
      { cause: error },
    );
  }
}

import { resolve } from "node:path/posix";
import { type Vfs, VfsError } from "@keelson/protocol";
import type { WorkingDirectory } from "./working-directory.ts";

/**
 * Makes a working directory for the tools of a run.
 * @param start the folder to begin in, as of a session that is resumed. Default: the root of `files`
 */
export function createWorkingDirectory(files: Pick<Vfs, "root" | "stat">, start: string = files.root ?? "/"): WorkingDirectory {
  let path = resolve(files.root ?? "/", start);
  let last: Promise<void> = Promise.resolve();

  async function moveTo(to: string): Promise<void> {
    const target = resolve(path, to);
    const { isDir, path: real } = await files.stat(target);
    if (!isDir)
      throw new VfsError({ kind: "not-directory", path: target, message: `${to} is not a folder; the working directory stays ${path}.` });
    path = real;
  }

  return {
    get path() {
      return path;
    },
    // One after the other, so that a relative path begins where the change before it ended.
    change(to) {
      const changed = last.then(() => moveTo(to));
      last = changed.catch(() => {});
      return changed;
    },
  };
}

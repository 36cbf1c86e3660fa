import { basename, dirname, resolve } from "node:path/posix";
import type { DiskVfs } from "../files/disk-vfs.ts";
import { notDirectory } from "../files/vfs-failures.ts";
import { joinPath, requirePossible } from "../files/virtual-path.ts";

/** The real path of what a path names, which need not exist; a link at its end is not followed. */
export async function resolveEntry(files: DiskVfs, path: string): Promise<string> {
  requirePossible(path);
  const whole = resolve(await files.pwd(), path);
  if (whole === files.root) return files.resolve(path);
  const parent = files.resolve(dirname(whole));
  const there = await files.stat(parent).catch(() => undefined); // folders that are missing are made by some calls
  if (there?.isDir === false) throw notDirectory(path);
  return joinPath(parent, basename(whole));
}

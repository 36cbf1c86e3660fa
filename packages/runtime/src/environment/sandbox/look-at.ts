import { lstatSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import type { DiskView } from "../files/disk-view.ts";
import { isPlaceholder } from "./placeholders.ts";

// A command needs hundreds of these: each takes microseconds, and going through a thread for it would take twenty times as long.
export function lookAt(path: string, disk: DiskView): "folder" | "file" | "link" | undefined {
  try {
    const found = lstatSync(disk.locate(path), { throwIfNoEntry: false });
    return found && (found.isDirectory() ? "folder" : found.isSymbolicLink() ? "link" : "file");
  } catch (error) {
    // A command sees no more than this user does.
    if (["ENOTDIR", "EACCES"].includes((error as NodeJS.ErrnoException).code ?? "")) return undefined;
    throw error;
  }
}

/** The first part of the way from `root` to `path` that is not a folder: `.git` is a file in a worktree. */
export function firstOddity(
  root: string,
  path: string,
  disk: DiskView,
): { readonly type: "missing" | "link" | "file"; readonly path: string } | undefined {
  let at = root;
  for (const part of relative(root, path).split(sep)) {
    at = join(at, part);
    const isHeld = isPlaceholder(at, disk);
    const found = lookAt(at, disk);
    if (found === undefined || isHeld) return { type: "missing", path: at };
    if (found !== "folder") return { type: found, path: at };
  }
  return undefined;
}

/** A path that does not exist, with the links of what does exist resolved. */
export async function realOfMissing(path: string, disk: DiskView): Promise<string> {
  const parent = dirname(path);
  if (parent === path) return path;
  return join(await disk.realPath(parent).catch(() => realOfMissing(parent, disk)), path.slice(parent === "/" ? 1 : parent.length + 1));
}

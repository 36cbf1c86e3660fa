import { existsSync } from "node:fs";
import { dirname, join, relative } from "node:path/posix";
import { bytesOf, systemPath } from "./folder-listing.ts";
import { tracks } from "./git-index.ts";

/** True if the repository around a file or folder tracks it, or a file in it. @param path absolute */
export function isTracked(path: string): boolean {
  const bytes = bytesOf(path);
  for (let folder = dirname(bytes); ; folder = dirname(folder)) {
    if (existsSync(systemPath(join(folder, ".git")))) return tracks(folder, relative(folder, bytes));
    if (folder === dirname(folder)) return false;
  }
}

import { readdirSync } from "node:fs";
import { NAME_ENCODING, systemPath } from "./system-path.ts";

/** The number of files in a folder; `isAll` is false if there may be more. */
export interface FileCount {
  readonly files: number;
  readonly isAll: boolean;
}

const MAX_ENTRIES = 20_000;

/** Counts the files in a folder and below, up to a bound. */
export function countFiles(folder: string, isCounted: (path: string) => boolean): FileCount {
  const pending = [folder];
  let files = 0;
  let visited = 0;
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    try {
      for (const entry of readdirSync(systemPath(at), { withFileTypes: true, encoding: NAME_ENCODING })) {
        const path = `${at === "/" ? "" : at}/${entry.name}`;
        if (entry.isDirectory()) pending.push(path);
        else if (isCounted(path)) files++;
        if (++visited >= MAX_ENTRIES) return { files, isAll: false };
      }
    } catch {
      // A folder that cannot be read has files that are not counted.
      return { files, isAll: false };
    }
  }
  return { files, isAll: true };
}

/** Returns the number for people. */
export function shownCount({ files, isAll }: FileCount): string {
  const shown = `${files.toLocaleString("en")} ${files === 1 ? "file" : "files"}`;
  return isAll ? shown : files === 0 ? "many files" : `more than ${shown}`;
}

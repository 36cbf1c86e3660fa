import { copyFileSync, type Dirent, mkdirSync, readdirSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";

// Programs rewrite small files, such as notes about a download; archives are only read.
const MAX_COPIED_BYTES = 16 * 1024;
// More would take longer than downloading what a project needs.
const MAX_FILES = 50_000;

/**
 * Makes a folder that shows the files of another and can be changed: large files are links, small ones are copies. Files that cannot be read are left
 * out, and so are those beyond the first 50,000. Does nothing if the target exists.
 */
export function mirrorFolder(source: string, target: string): void {
  if (statSync(target, { throwIfNoEntry: false }) !== undefined || statSync(source, { throwIfNoEntry: false })?.isDirectory() !== true)
    return;
  let left = MAX_FILES;
  const mirror = (from: string, to: string): void => {
    mkdirSync(to, { recursive: true, mode: 0o700 });
    for (const entry of entriesOf(from)) {
      if (left-- <= 0) return;
      const [original, made] = [join(from, entry.name), join(to, entry.name)];
      try {
        if (entry.isDirectory()) mirror(original, made);
        else if (entry.isFile() && statSync(original).size <= MAX_COPIED_BYTES) copyFileSync(original, made);
        else if (entry.isFile() || entry.isSymbolicLink()) symlinkSync(original, made);
      } catch {
        // Another process changes the cache, or this user may not read the file.
      }
    }
  };
  mirror(source, target);
}

function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

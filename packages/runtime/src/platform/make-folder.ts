import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Makes a folder, with those above it that are missing; one that is there already is left as it is. Node's own way of doing so
 * (`recursive`) never ends where a file system says of a folder that is there that it is not, as /proc does of what is made in it.
 * @throws the error of the system
 */
export function makeFolder(path: string, mode: number): void {
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    if (isFolder(path)) return;
    const above = dirname(path);
    if ((error as NodeJS.ErrnoException).code !== "ENOENT" || isFolder(above)) throw error;
    makeFolder(above, mode);
    makeLast(path, mode);
  }
}

/** Somebody else may have been as fast. */
function makeLast(path: string, mode: number): void {
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    if (!isFolder(path)) throw error;
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

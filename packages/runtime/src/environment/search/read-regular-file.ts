import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";

const MAX_BYTES = 512 * 1024 * 1024;

/** Returns the content of a regular file, links followed; `undefined` if there is none, or none that can be read. */
export function readRegularFile(path: string): Buffer | undefined {
  let file: number | undefined;
  try {
    // A pipe without a writer must not block.
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stats = fstatSync(file);
    return stats.isFile() && stats.size <= MAX_BYTES ? readFileSync(file) : undefined;
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

import { realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/** Returns where a path leads, links followed, also if nothing is there yet. */
export function realTarget(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const folder = dirname(path);
    return folder === path ? path : join(realTarget(folder), basename(path));
  }
}

import { realpath } from "node:fs/promises";
import { dirname, join } from "node:path";

/** Of a path that need not exist: links are resolved as far as it does. */
export async function realPathOf(path: string): Promise<string> {
  const parent = dirname(path);
  if (parent === path) return path;
  return realpath(path).catch(async () => join(await realPathOf(parent), path.slice(parent === "/" ? 1 : parent.length + 1)));
}

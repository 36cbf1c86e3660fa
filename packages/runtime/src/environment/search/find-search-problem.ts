import { realpath } from "node:fs/promises";
import { loadRipgrep } from "./find-ripgrep.ts";
import { createRipgrepFilter } from "./ripgrep-filter.ts";

const CONSEQUENCE = "A search for a pattern without a fixed text, such as \\w+_id, takes several times longer";

/**
 * Says why some searches are slow in a folder of this machine, and how to mend it. Tries the ripgrep that `createDiskVfs` uses by default.
 * @returns `undefined` if they are fast
 */
export async function findSearchProblem(root: string, importModule?: (name: string) => Promise<unknown>): Promise<string | undefined> {
  const program = await loadRipgrep(importModule).catch((error: unknown) => error as Error);
  if (program instanceof Error) {
    const [reason] = program.message.split("\n");
    return `${CONSEQUENCE}, because the package @vscode/ripgrep can't be loaded (${reason}). Install it: npm install @vscode/ripgrep`;
  }
  const filter = await createRipgrepFilter(program, [await realpath(root).catch(() => root)]);
  if (typeof filter === "string") return `${CONSEQUENCE}, because ${filter}.`;
  const [found] = (await filter("^[0-9]$", [Buffer.from("1\n")])) ?? [];
  return found === true
    ? undefined
    : `${CONSEQUENCE}, because ${program} does not run here. Install the package again for this platform: npm install --force @vscode/ripgrep`;
}

import { realpath } from "node:fs/promises";
import { findRipgrep } from "./find-ripgrep.ts";
import type { LineFilter } from "./line-filter.ts";
import { createRipgrepFilter } from "./ripgrep-filter.ts";

const warned = new Set<string>();

/**
 * Returns the filter that a search of files uses for patterns without a fixed text. Warns once if there is a program that cannot be used.
 * @param ripgrep the program; `undefined` for that of the package, `false` for none @param writable folders that commands may write to
 */
export async function createLineFilter(ripgrep: string | false | undefined, writable: readonly string[]): Promise<LineFilter | undefined> {
  const program = ripgrep === false ? undefined : (ripgrep ?? (await findRipgrep()));
  if (program === undefined) return undefined;
  const filter = await createRipgrepFilter(
    program,
    await Promise.all(writable.map(async (folder) => realpath(folder).catch(() => folder))),
  );
  if (typeof filter !== "string") return filter;
  if (!warned.has(filter))
    process.emitWarning(`Searches for patterns without a fixed text take several times longer, because ${filter}.`, {
      type: "KeelsonWarning",
    });
  warned.add(filter);
  return undefined;
}

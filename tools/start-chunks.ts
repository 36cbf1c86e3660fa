import { join } from "node:path";
import type { Rolldown } from "tsdown";

/**
 * Joins what the main entry of a package loads at once into two chunks, since each file that Node loads costs it half a millisecond
 * and more: `start` holds what only the main entry and those like it need, `shared` what other entries need too.
 * What loads on first use, and what the main entry does not load, stays in chunks of its own. Entries are relative to `sources`.
 */
export function startChunks(sources: string, main: string, likeMain: readonly string[]): Rolldown.CodeSplittingOptions {
  const mainEntry = join(sources, main);
  const startEntries = new Set([main, ...likeMain].map((entry) => join(sources, entry)));
  return {
    groups: [
      {
        // Declarations are bundled in the same pass.
        test: /(?<!\.d)\.ts$/,
        name: (id, context) => {
          const entries = entriesThatLoad(id, context);
          if (!entries.has(mainEntry)) return null;
          return [...entries].every((entry) => startEntries.has(entry)) ? "start" : "shared";
        },
      },
    ],
  };
}

function entriesThatLoad(id: string, context: Rolldown.ChunkingContext): ReadonlySet<string> {
  const loaders = new Set([id]);
  const entries = new Set<string>();
  for (const loader of loaders) {
    const info = context.getModuleInfo(loader);
    if (info?.isEntry === true) entries.add(loader);
    for (const importer of info?.importers ?? []) loaders.add(importer);
  }
  return entries;
}

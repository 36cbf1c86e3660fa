import { setImmediate as nextTick } from "node:timers/promises";
import { fuzzyMatch } from "@earendil-works/pi-tui";

export interface RankOptions {
  readonly limit: number;
  readonly signal: AbortSignal;
  /** Gives other work its turn. Default: the event loop. */
  readonly pause?: () => Promise<unknown>;
}

/** Paths that are ranked before other work, such as the next key, gets its turn: about two milliseconds of work. */
const SLICE = 1_000;
/** A match in the name counts more than one that is spread over the folders. */
const NAME_BONUS = 30;

interface Ranked {
  readonly path: string;
  readonly score: number;
}

/**
 * Returns the paths that match a query best. Folders end with a slash.
 * @returns an empty list if the signal fires
 */
export async function rankPaths(
  paths: readonly string[],
  query: string,
  { limit, signal, pause = nextTick }: RankOptions,
): Promise<readonly string[]> {
  let best: Ranked[] = [];
  for (let start = 0; start < paths.length; start += SLICE) {
    if (start > 0) await pause();
    if (signal.aborted) return [];
    const found = paths.slice(start, start + SLICE).flatMap((path) => scored(path, query));
    best = [...best, ...found].toSorted((a, b) => a.score - b.score || a.path.length - b.path.length).slice(0, limit);
  }
  return best.map(({ path }) => path);
}

function scored(path: string, query: string): readonly Ranked[] {
  const whole = fuzzyMatch(query, path);
  if (!whole.matches) return [];
  const name = path.slice(path.lastIndexOf("/", path.length - 2) + 1);
  const inName = fuzzyMatch(query, name);
  return [{ path, score: inName.matches ? Math.min(whole.score, inName.score - NAME_BONUS) : whole.score }];
}

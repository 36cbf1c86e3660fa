/** The name that was probably meant: the fewest edits away, and not more than a third of its length. */
export function nearestName(wanted: string, names: Iterable<string>): string | undefined {
  const target = simplify(wanted);
  let best: string | undefined;
  let bestDistance = Number.POSITIVE_INFINITY;
  for (const name of names) {
    const candidate = simplify(name);
    const limit = Math.max(1, Math.floor(Math.max(target.length, candidate.length) / 3));
    const distance = candidate === target ? 0 : editDistance(target, candidate, limit);
    if (distance > limit || distance >= bestDistance) continue;
    best = name;
    bestDistance = distance;
  }
  return best;
}

/** Case and separators are what models most often get wrong. */
function simplify(name: string): string {
  return name
    .toLowerCase()
    .replace(/[^a-z0-9]/g, "")
    .slice(0, 64);
}

/** Levenshtein's distance, in which two neighbours that changed places are one edit. A distance over `limit` may be any larger number. */
function editDistance(from: string, to: string, limit: number): number {
  if (Math.abs(from.length - to.length) > limit) return limit + 1;
  let beforeLast: readonly number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const replaced = (last[column - 1] ?? 0) + (from[row - 1] === to[column - 1] ? 0 : 1);
      const isSwapped = row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      const swapped = isSwapped ? (beforeLast[column - 2] ?? 0) + 1 : replaced;
      current.push(Math.min(replaced, swapped, (last[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    beforeLast = last;
    last = current;
  }
  return last[to.length] ?? 0;
}

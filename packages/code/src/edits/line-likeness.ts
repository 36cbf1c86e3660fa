/** Returns the share of pairs of neighbouring letters that two lines have in common, from 0 to 1. White space does not count. */
export function lineLikeness(one: string, other: string): number {
  const [first, second] = [one.replace(/\s+/g, ""), other.replace(/\s+/g, "")];
  if (first === second) return 1;
  const pairs = pairsOf(first);
  let shared = 0;
  for (const [pair, count] of pairsOf(second)) shared += Math.min(count, pairs.get(pair) ?? 0);
  return (2 * shared) / Math.max(1, first.length + second.length - 2);
}

function pairsOf(line: string): Map<string, number> {
  const pairs = new Map<string, number>();
  for (let index = 0; index + 1 < line.length; index++) {
    const pair = line.slice(index, index + 2);
    pairs.set(pair, (pairs.get(pair) ?? 0) + 1);
  }
  return pairs;
}

/** What keeps the first ranks of one list from deciding alone (Cormack, Clarke and Büttcher, 2009). */
const RANK_BIAS = 60;

/**
 * Reciprocal rank fusion: makes one order of several, whose scores can't be compared. Each id gets from 0 to 1, and 1 when it is first in all.
 * @param lists ids, best first
 */
export function fuseRanks<T>(lists: readonly (readonly T[])[]): ReadonlyMap<T, number> {
  const scores = new Map<T, number>();
  for (const list of lists)
    for (const [rank, id] of list.entries())
      scores.set(id, (scores.get(id) ?? 0) + (RANK_BIAS + 1) / (RANK_BIAS + 1 + rank) / lists.length);
  return scores;
}

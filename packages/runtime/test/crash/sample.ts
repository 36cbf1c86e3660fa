import { seed } from "../../../../test/tier.ts";
import { randomNumbers } from "../processes/random-numbers.ts";

/** Draws `count` of `items` by the seed of this run of the tests. */
export function sample<T>(items: readonly T[], count: number): readonly T[] {
  return count >= items.length ? items : shuffle(items).slice(0, count);
}

/** Draws `count` of `items` by the seed, and at least one of each kind. */
export function sampleOfEach<T>(items: readonly T[], kindOf: (item: T) => string, count: number): readonly T[] {
  const kinds = new Set<string>();
  const shuffled = shuffle(items);
  const first = new Set(shuffled.filter((item) => kinds.size < kinds.add(kindOf(item)).size));
  return [...first, ...shuffled.filter((item) => !first.has(item))].slice(0, Math.max(count, first.size));
}

function shuffle<T>(items: readonly T[]): readonly T[] {
  const random = randomNumbers(seed);
  return items
    .map((item) => ({ item, order: random() }))
    .sort((a, b) => a.order - b.order)
    .map(({ item }) => item);
}

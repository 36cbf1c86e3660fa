import { seed } from "../../../../test/tier.ts";
import { randomNumbers } from "../processes/random-numbers.ts";

/** So many of `items`, drawn by the seed of this run of the tests. */
export function sample<T>(items: readonly T[], count: number): readonly T[] {
  if (count >= items.length) return items;
  const random = randomNumbers(seed);
  return items
    .map((item) => ({ item, order: random() }))
    .sort((a, b) => a.order - b.order)
    .slice(0, count)
    .map(({ item }) => item);
}

import type { Scope } from "@keelson/protocol";
import fc from "fast-check";
import { expect, it } from "vitest";
import { createMemoryStore } from "../memory/memory-store.ts";
import { memoryLinkKey, type StateLink } from "./state-link.ts";
import { traverseLinks } from "./traverse-links.ts";

const GLOBAL: Scope = { type: "global" };
const storeOf = async (links: readonly StateLink[]) => {
  const store = createMemoryStore();
  for (const link of links) await store.write(GLOBAL, memoryLinkKey(link), { ...link });
  return store;
};

it("reaches what is linked, nearest first, along the relations asked for", async () => {
  const store = await storeOf([
    { from: "ada", relation: "knows", to: "bob" },
    { from: "ada", relation: "likes", to: "tea/green" },
    { from: "bob", relation: "knows", to: "cleo" },
    { from: "cleo", relation: "knows", to: "ada" },
    { from: "adam", relation: "knows", to: "eve" },
  ]);
  expect(await traverseLinks(store, GLOBAL, "ada")).toEqual([
    { key: "bob", from: "ada", relation: "knows", depth: 1 },
    { key: "tea/green", from: "ada", relation: "likes", depth: 1 },
  ]);
  const known = await traverseLinks(store, GLOBAL, "ada", { relations: ["knows"], maxDepth: 10 });
  expect(known.map(({ key, depth }) => [key, depth])).toEqual([
    ["bob", 1],
    ["cleo", 2],
  ]);
  expect(await traverseLinks(store, GLOBAL, "ada", { maxDepth: 10, limit: 1 })).toHaveLength(1);
  expect(await traverseLinks(store, GLOBAL, "ada", { maxDepth: 0 })).toEqual([]);
  await expect(traverseLinks(store, GLOBAL, "ada", { maxDepth: -1 })).rejects.toThrow(/maxDepth of a walk along links/);
  await expect(traverseLinks(store, GLOBAL, "ada", { signal: AbortSignal.abort(new Error("enough")) })).rejects.toThrow("enough");
});

it("ends in any graph, with each key once and at its least distance", async () => {
  const key = fc.constantFrom("a", "b", "c", "d", "e/f", "%");
  const links = fc.array(fc.record({ from: key, relation: fc.constantFrom("r", "s"), to: key }), { maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(links, fc.integer({ min: 0, max: 6 }), async (all, maxDepth) => {
      const expected = new Map<string, number>();
      let border = ["a"];
      for (let depth = 1; depth <= maxDepth; depth++) {
        border = [...new Set(all.filter(({ from }) => border.includes(from)).map(({ to }) => to))].filter(
          (to) => to !== "a" && !expected.has(to),
        );
        for (const to of border) expected.set(to, depth);
      }
      const reached = await traverseLinks(await storeOf(all), GLOBAL, "a", { maxDepth });
      expect(new Map(reached.map((each) => [each.key, each.depth]))).toEqual(expected);
      expect(reached.map(({ depth }) => depth)).toEqual(reached.map(({ depth }) => depth).toSorted());
    }),
    { numRuns: 200 },
  );
});

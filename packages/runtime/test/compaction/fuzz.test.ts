import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sampleSize, seed } from "../../../../test/tier.ts";
import { tokensOf } from "../../src/context/compaction/apply-strategy.ts";
import { messageUnits } from "../../src/context/compaction/message-units.ts";
import type { Entry } from "../../src/context/room/entry.ts";
import { RequestMaker, TARGETS } from "../wires/targets.ts";
import { conversations, LADDER, STRATEGIES, type Way } from "./compacted.ts";
import { expectKept } from "./laws.ts";

const numRuns = sampleSize("histories that are compacted", { test: 100, ci: 500, soak: 10_000 });
const size = fc.double({ min: 0, max: 1, noNaN: true });
const makers = TARGETS.map((target) => new RequestMaker(target));

async function holds(
  way: Way,
  law: (before: readonly Entry[], after: readonly Entry[], size: number) => void | Promise<void>,
): Promise<void> {
  let gained = 0;
  await fc.assert(
    fc.asyncProperty(conversations, size, async (entries, given) => {
      const after = way.shorten(entries, given);
      if (after === undefined) return;
      gained++;
      await law(entries, after, given);
    }),
    { numRuns, seed },
  );
  // A law that nothing was held against says nothing.
  expect(gained).toBeGreaterThan(numRuns / 20);
}

describe.each([...STRATEGIES, ...LADDER])("a conversation that is compacted by $name", (way) => {
  it(
    "keeps calls with their results, what is pinned, open calls and the last request, in their order, and never grows [CE-21, CE-22, ST-11]",
    { timeout: 3_600_000 },
    () => holds(way, (before, after) => expectKept(before, after, way)),
  );

  it("is one that every provider's API takes", { timeout: 3_600_000 }, () =>
    holds(way, async (_before, after, given) => {
      const maker = makers[Math.min(makers.length - 1, Math.floor(given * makers.length))] as RequestMaker;
      const messages = after.map(({ message }) => message);
      expect(await maker.problems({ messages, system: "Be brief.", tools: TOOLS }), maker.target.name).toEqual([]);
    }),
  );

  it("is the same to the byte whether the conversation lives in memory or was read from a log", { timeout: 3_600_000 }, () =>
    holds(way, (before, after, given) => {
      const read = JSON.parse(JSON.stringify(before)) as readonly Entry[];
      expect(JSON.stringify(way.shorten(read, given))).toBe(JSON.stringify(after));
    }),
  );
});

const TOOLS = [{ name: "look", description: "Looks", inputSchema: { type: "object", properties: { q: { type: "string" } } } }];

describe("a sliding window", () => {
  it("keeps the newest messages of its size beside those that stay in any case [CE-22]", () =>
    holds(STRATEGIES[0] as Way, (before, after, given) => {
      const keep = Math.max(1, Math.floor(given * before.length));
      const mayGo = messageUnits(before).filter(({ stays, start }) => stays === undefined && before[start]?.message.summary !== true);
      const kept = mayGo.filter(({ start }) => after.includes(before[start] as Entry));
      expect(kept).toEqual(mayGo.slice(mayGo.length - kept.length));
      expect(kept.reduce((sum, { start, end }) => sum + end - start, 0)).toBeLessThanOrEqual(keep);
    }));
});

describe("a policy trim", () => {
  it("leaves out what is to be discarded when done, then what is to be compressed first, then the rest, and no more than it must [CE-22, ST-11]", () =>
    holds(STRATEGIES[1] as Way, (before, after, given) => {
      const order = ["discard-when-done", "compress-first", "normal"];
      const ranked = messageUnits(before)
        .filter(({ stays, start }) => stays === undefined && before[start]?.message.summary !== true)
        .map((unit) => {
          const entries = before.slice(unit.start, unit.end);
          return {
            entries,
            rank: Math.max(...entries.map(({ policy }) => order.indexOf(policy))),
            isOut: !after.includes(entries[0] as Entry),
          };
        })
        .toSorted((a, b) => a.rank - b.rank);
      const out = ranked.filter(({ isOut }) => isOut);
      expect(ranked.slice(0, out.length)).toEqual(out);
      const target = Math.max(1, Math.floor(given * tokensOf(before)));
      if (out.length < ranked.length) expect(tokensOf(after)).toBeLessThanOrEqual(target + before.length);
      const withLast = tokensOf(before) - out.slice(0, -1).reduce((sum, { entries }) => sum + tokensOf(entries), 0);
      expect(withLast).toBeGreaterThan(target - before.length);
    }));
});

describe("the ladder of a request that does not fit", () => {
  it("makes each step smaller than the one before, and ends with what must stay and nothing else", () =>
    fc.assert(
      fc.property(conversations, (entries) => {
        let left = entries;
        for (const way of LADDER)
          for (
            let smaller = way.shorten(left, 0.5);
            smaller !== undefined;
            smaller = way.isLadder ? way.shorten(smaller, 0.5) : undefined
          ) {
            expect(tokensOf(smaller)).toBeLessThan(tokensOf(left));
            left = smaller;
          }
        const free = messageUnits(left).flatMap(({ start, end, stays }) =>
          stays === undefined || stays === "unread" ? left.slice(start, end) : [],
        );
        // A note in its place would be as long.
        expect(tokensOf(free)).toBeLessThan(60);
      }),
      { numRuns, seed },
    ));
});

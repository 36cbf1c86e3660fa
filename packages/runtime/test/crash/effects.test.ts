import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sampleSize, seed } from "../../../../test/tier.ts";
import { anyStory, effectLives, effectStoryFaults, storyOf, undisturbedEffects } from "./effects-scenario.ts";
import { sample } from "./sample.ts";

const everything = storyOf([
  ["directive?", "emit"],
  [
    ["effect", "directive?", "effect!", "emit"],
    ["directive", "directive!", "effect"],
  ],
  ["directive"],
]);

describe("a run that declares effects and is killed", () => {
  it(
    "at any append, and around any execution, executes each at least once under one key, in order, and marks it once [EF-02, DI-13]",
    { timeout: 120_000 },
    async () => {
      const expected = await undisturbedEffects(everything);
      expect(expected.order).toEqual(["1?", "4?", "7", "8!", "3", "5!", "9", "10"]);
      const faults: string[] = [];
      for (const place of expected.passed) {
        const lives = effectLives(everything);
        await lives.live(place);
        const { outcome } = await lives.live();
        for (const fault of await effectStoryFaults(lives, outcome, expected)) faults.push(`${place}: ${fault}`);
      }
      expect(faults).toEqual([]);
    },
  );

  it("again on its way, does the same", { timeout: 1_800_000 }, async () => {
    const expected = await undisturbedEffects(everything);
    const pairs: { readonly first: string; readonly second: string }[] = [];
    for (const first of expected.passed) {
      const lives = effectLives(everything);
      await lives.live(first);
      for (const second of (await lives.live()).passed) pairs.push({ first, second });
    }
    const faults: string[] = [];
    for (const { first, second } of sample(
      pairs,
      sampleSize(`pairs of ${pairs.length} kills among effects`, { test: 100, ci: 1000, soak: pairs.length }),
    )) {
      const lives = effectLives(everything);
      await lives.live(first);
      await lives.live(second);
      const { outcome } = await lives.live();
      for (const fault of await effectStoryFaults(lives, outcome, expected)) faults.push(`${first}, ${second} (seed ${seed}): ${fault}`);
    }
    expect(faults).toEqual([]);
  });

  it("whatever it declares, and when, comes to the end it would have come to [LA-10, EF-02]", { timeout: 1_800_000 }, async () => {
    const stories = sampleSize("stories of effects", { test: 6, ci: 40, soak: 400 });
    await fc.assert(
      fc.asyncProperty(anyStory, async (story) => {
        const expected = await undisturbedEffects(story);
        const faults: string[] = [];
        for (const place of expected.passed) {
          const lives = effectLives(story);
          await lives.live(place);
          const { outcome } = await lives.live();
          for (const fault of await effectStoryFaults(lives, outcome, expected)) faults.push(`${place}: ${fault}`);
        }
        expect(faults).toEqual([]);
      }),
      { numRuns: stories, seed },
    );
  });

  it("again and again before its next response, gives up on the run and executes nothing more", { timeout: 60_000 }, async () => {
    const lives = effectLives(storyOf([[], [["effect"]], []]));
    await lives.live("inferring#1");
    for (let life = 0; life < 3; life++) await lives.live("inferring#0");
    const { outcome } = await lives.live();
    expect(outcome?.reason).toBe("circuit-breaker");
    expect(outcome?.effects).toMatchObject([{ name: "1" }]);
    expect(outcome?.effects[0]?.meta).not.toHaveProperty("outcome");
    expect(lives.done()).toEqual([]);
  });

  it.each([
    { of: "one", kills: 3, outcomes: ["failed", "done"], attempts: ["1/1", "1/2", "1/3", "2/1"] },
    { of: "each", kills: 6, outcomes: ["failed", "failed"], attempts: ["1/1", "1/2", "1/3", "2/1", "2/2", "2/3"] },
  ])("three times in $of of two effects, takes that for what kills it, and goes on without it", { timeout: 60_000 }, async (story) => {
    const lives = effectLives(storyOf([[], [["effect", "effect"]], []]));
    for (let life = 0; life < story.kills; life++) await lives.live("execute/after#0");
    const { outcome } = await lives.live();
    expect(outcome?.reason).toBe("complete");
    expect(outcome?.effects.map(({ meta }) => meta?.outcome)).toEqual(story.outcomes);
    expect(lives.done().map(({ tool, attempt }) => `${tool}/${attempt}`)).toEqual(story.attempts);
  });
});

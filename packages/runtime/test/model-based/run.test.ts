import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sampleSize, seed, tier } from "../../../../test/tier.ts";
import { expectInvariants } from "./invariants.ts";
import { live } from "./life.ts";
import { story } from "./story.ts";

const SEQUENCES = { test: 60, ci: 500, soak: 10_000 };

describe("a run, whatever its model, tools, watchers, users, callbacks and processes do", () => {
  const unhandled: unknown[] = [];
  const remember = (reason: unknown): number => unhandled.push(reason);
  beforeAll(() => void process.on("unhandledRejection", remember));
  afterAll(() => void process.off("unhandledRejection", remember));

  it(
    "has one ending and nothing after it, shows every watcher what its log holds, runs nothing that was declined, blocked or impossible, answers every call, keeps its limits and budgets, decides, declares and carries out each thing once, ends its children, and leaves nothing open, wherever its processes die [EV-14, EV-15, EV-16, EV-17, EV-19, EV-21, RN-04, RN-05, RN-06, WE-02, ET-06]",
    async () => {
      await fc.assert(
        fc.asyncProperty(story, async (told) => {
          await expectInvariants(await live(told));
          await new Promise((resolve) => setImmediate(resolve));
          expect(unhandled.splice(0)).toEqual([]);
        }),
        { numRuns: sampleSize("lives of a run", SEQUENCES), seed },
      );
    },
    tier === "soak" ? 3_600_000 : 300_000,
  );
});

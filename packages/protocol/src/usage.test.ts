import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { addUsage, UNKNOWN_USAGE, type Usage } from "./usage.ts";

const tokens = fc.option(fc.nat({ max: 1_000_000 }), { nil: null });
const usage: fc.Arbitrary<Usage> = fc.record({
  inputTokens: tokens,
  outputTokens: tokens,
  cacheReadTokens: tokens,
  cacheCreationTokens: tokens,
  reasoningTokens: tokens,
});

describe("the sum of two usages", () => {
  it("is unknown only where both are, and unknown is never zero", () => {
    const known = { inputTokens: 1, outputTokens: 2, cacheReadTokens: 3, cacheCreationTokens: 4, reasoningTokens: 5 };
    expect(addUsage(known, known)).toEqual({
      inputTokens: 2,
      outputTokens: 4,
      cacheReadTokens: 6,
      cacheCreationTokens: 8,
      reasoningTokens: 10,
    });
    expect(addUsage(known, UNKNOWN_USAGE)).toEqual(known);
    expect(addUsage(UNKNOWN_USAGE, UNKNOWN_USAGE)).toEqual(UNKNOWN_USAGE);
    expect(addUsage({ ...UNKNOWN_USAGE, inputTokens: 0 }, UNKNOWN_USAGE).inputTokens).toBe(0);
  });

  it("doesn't depend on order or grouping", () => {
    fc.assert(
      fc.property(usage, usage, usage, (a, b, c) => {
        expect(addUsage(a, b)).toEqual(addUsage(b, a));
        expect(addUsage(addUsage(a, b), c)).toEqual(addUsage(a, addUsage(b, c)));
        expect(addUsage(a, UNKNOWN_USAGE)).toEqual(a);
      }),
    );
  });
});

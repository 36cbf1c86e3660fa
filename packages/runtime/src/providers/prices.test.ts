import { compareUsd, type Usage, UNKNOWN_USAGE, usd } from "@keelson/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { costOf, DEFAULT_PRICES, type ModelPrice, priceOf, worstCase } from "./prices.ts";

const usage = (
  inputTokens: number,
  outputTokens: number,
  cacheReadTokens: number | null = null,
  cacheCreationTokens: number | null = null,
): Usage => ({ inputTokens, outputTokens, cacheReadTokens, cacheCreationTokens, reasoningTokens: null });

describe("prices", () => {
  it("are found by id, by dated and prefixed id, overrides first, and are null when nobody knows [PV-05]", () => {
    const haiku = DEFAULT_PRICES["claude-haiku-4-5"];
    expect(haiku).toMatchObject({ input: "1", output: "5", vendor: "anthropic", asOf: expect.stringMatching(/^20\d\d-\d\d-\d\d$/) });
    for (const id of ["claude-haiku-4-5", "claude-haiku-4-5-20251001", "anthropic/claude-haiku-4-5-20251001", "claude-haiku-4-5-latest"])
      expect(priceOf(id)).toBe(haiku);
    expect(priceOf("gpt-4o-2024-08-06")).toBe(DEFAULT_PRICES["gpt-4o"]);
    for (const id of ["nothing", "", "constructor", "anthropic/__proto__"]) expect(priceOf(id)).toBeNull();
    const mine: ModelPrice = { asOf: "2026-01-01", input: "9", output: "9" };
    expect(priceOf("claude-haiku-4-5-20251001", { "claude-haiku-4-5": mine })).toBe(mine);
    expect(priceOf("gpt-4o", { "gpt-4o": null })).toBeNull();
  });

  it("are all decimal amounts", () => {
    for (const price of Object.values(DEFAULT_PRICES)) {
      for (const rates of [price, price?.longPrompt])
        for (const value of [rates?.input, rates?.output, rates?.cacheRead, rates?.cacheWrite])
          if (value !== undefined) expect(compareUsd(usd(value), usd(0))).toBe(1);
    }
  });

  it("give the cost of a usage to the pico-dollar, with cached tokens at their own price", () => {
    const price: ModelPrice = { asOf: "2026-01-01", input: "1", output: "5", cacheRead: "0.1", cacheWrite: "1.25" };
    expect(costOf(usage(1000, 100), price)).toBe("0.0015");
    expect(costOf(usage(1000, 100, 600, 300), price)).toBe("0.001035");
    expect(costOf(usage(1, 0, 1), { ...price, cacheRead: "0.0000015" })).toBe("0.000000000002");
    expect(costOf(usage(1000, 100, 600), { asOf: "", input: "1", output: "5" })).toBe("0.0015");
    expect(costOf(UNKNOWN_USAGE, price)).toBeNull();
    expect(costOf(usage(1, 1), null)).toBeNull();
  });

  it("rise as a whole for a long prompt", () => {
    const price: ModelPrice = { asOf: "", input: "3", output: "15", longPrompt: { aboveInputTokens: 200_000, input: "6", output: "22.5" } };
    expect([costOf(usage(200_000, 1000), price), costOf(usage(200_001, 1000), price)]).toEqual(["0.615", "1.222506"]);
  });

  it("have a worst case that no usage within its bounds passes", () => {
    const prices = Object.values(DEFAULT_PRICES).filter((price) => price !== null);
    fc.assert(
      fc.property(
        fc.constantFrom(...prices),
        fc.nat(400_000),
        fc.nat(50_000),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (price, input, output, share, read, write) => {
          const used = Math.floor(input * share);
          const cost = costOf(usage(used, Math.floor(output * share), Math.floor(used * read), Math.floor(used * write)), price);
          expect(cost !== null && compareUsd(cost, worstCase(input, output, price)) <= 0).toBe(true);
        },
      ),
    );
  });
});

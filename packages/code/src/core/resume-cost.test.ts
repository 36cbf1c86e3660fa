import { UNKNOWN_USAGE } from "@keelson/protocol";
import { createModelRegistry } from "keelson/providers";
import { scriptedModel } from "keelson/testing";
import { expect, it } from "vitest";
import { resumeCostLine } from "../render/resume-cost-line.ts";
import { resumeCost } from "./resume-cost.ts";

const price = { input: "3", output: "15", cacheRead: "0.3", cacheWrite: "3.75", asOf: "2026-01-01" };
const models = createModelRegistry({
  providers: { p: scriptedModel([]) },
  prices: { "p/m": price },
  facts: { "p/m": { contextWindow: 200_000 } },
});
const context = { model: "p/m", tokens: 80_000, counted: true, cachedTokens: 75_000 };
const metadata = { updatedAt: 1_000_000, turnCount: 10, usage: { ...UNKNOWN_USAGE, inputTokens: 500_000, outputTokens: 10_000 } };
const MINUTE = 60_000;

it("estimates the next request at the price of a cold cache and, shortly after the last one, at that of a warm one", () => {
  const warm = resumeCost({ context, metadata }, 1_000_000 + 4 * MINUTE, models);
  // 80,000 at 3.75; 75,000 at 0.3 and 5,000 at 3.75; 80,000 at 0.3 and 1,000 of output at 15 dollars a million.
  expect(warm).toEqual({ tokens: 80_000, counted: true, windowPart: 0.4, cost: "0.3", cachedCost: "0.04125", turnCost: "0.039" });
  expect(warm && resumeCostLine(warm)).toBe(
    "goes on with about 80k tokens, 40% of the context window · $0.3000, or $0.0413 while the vendor has it cached · then about $0.0390 a turn",
  );
  expect(resumeCost({ context, metadata }, 1_000_000 + 11 * MINUTE, models)).not.toHaveProperty("cachedCost");
});

it("assumes no cache for a vendor that reported none, and says what it does not know", () => {
  const plain = resumeCost({ context: { ...context, cachedTokens: 0 }, metadata }, 1_000_000, models);
  expect(plain).toEqual({ tokens: 80_000, counted: true, windowPart: 0.4, cost: "0.24", turnCost: "0.255" });
  const unknown = resumeCost({ context: { ...context, model: "q/unheard-of", counted: false }, metadata }, 1_000_000, models);
  expect(unknown).toEqual({ tokens: 80_000, counted: false, cost: null, turnCost: null });
  expect(unknown && resumeCostLine(unknown)).toBe("goes on with more than 80k tokens · cost unknown");
  expect(resumeCost({ metadata }, 0, models)).toBeUndefined();
});

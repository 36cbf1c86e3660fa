import { compareUsd, type Usage, UNKNOWN_USAGE, usd } from "@keelson/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { calcPrice, findProvider, type ModelPrice as SourcePrice } from "@pydantic/genai-prices";
import { listedPrices } from "./listed-models.ts";
import { PRICES_AS_OF } from "./prices.gen.ts";
import { costOf, priceOf, worstCase } from "./prices.ts";
import type { ModelPrice } from "./model-price.ts";

const usage = (
  inputTokens: number,
  outputTokens: number,
  cacheReadTokens: number | null = null,
  cacheCreationTokens: number | null = null,
): Usage => ({ inputTokens, outputTokens, cacheReadTokens, cacheCreationTokens, reasoningTokens: null });

describe("prices", () => {
  it("are found by id, by dated and prefixed id, overrides first, and are null when nobody knows [PV-05]", () => {
    const haiku = priceOf("claude-haiku-4-5");
    expect(haiku).toMatchObject({ input: "1", output: "5", cacheRead: "0.1", cacheWrite: "1.25", vendor: "anthropic", asOf: PRICES_AS_OF });
    for (const id of [
      "claude-haiku-4-5-20251001",
      "anthropic/claude-haiku-4-5-20251001",
      "claude-haiku-4-5-latest",
      "openrouter/anthropic/claude-haiku-4.5",
      "bedrock/us.anthropic.claude-haiku-4-5-20251001-v1:0",
      "vertex/claude-haiku-4-5@20251001",
    ])
      expect(priceOf(id), id).toBe(haiku);
    expect(priceOf("gpt-4o-2024-08-06")).toBe(priceOf("gpt-4o"));
    expect(priceOf("gpt-4o-2024-05-13")).not.toBe(priceOf("gpt-4o"));
    for (const id of ["nothing", "", "/", "constructor", "anthropic/__proto__", "ollama/llama3", "vllm/gpt-oss-120b", "claudette"])
      expect(priceOf(id), id).toBeNull();
    const mine: ModelPrice = { asOf: "2026-01-01", input: "9", output: "9" };
    expect(priceOf("claude-haiku-4-5-20251001", { "claude-haiku-4-5": mine })).toBe(mine);
    expect(priceOf("gpt-4o", { "gpt-4o": null })).toBeNull();
  });

  it("are those of who serves the model", () => {
    const served = ["groq", "cerebras", "fireworks"].map(
      (vendor) => priceOf(`${vendor}/openai/gpt-oss-120b`) ?? priceOf(`${vendor}/gpt-oss-120b`),
    );
    expect(new Set(served.map((price) => price?.input)).size).toBeGreaterThan(1);
    expect(priceOf("google/gemini-2.5-pro")).toBe(priceOf("gemini/gemini-2.5-pro"));
    expect(priceOf("azure/gpt-5")).toBe(priceOf("openai/gpt-5"));
    expect(priceOf("mine/mistral-large-latest")).toBeNull();
    expect(priceOf("mistral/mistral-large-latest")).not.toBeNull();
  });

  it("are those of the data that they were read from, for every model in it", () => {
    const vendors = {
      "anthropic": "anthropic",
      "openai": "openai",
      "google": "gemini",
      "mistral": "mistral",
      "groq": "groq",
      "x-ai": "xai",
      "moonshotai": "moonshot",
    };
    const timestamp = new Date(`${PRICES_AS_OF}T12:00:00Z`);
    let compared = 0;
    for (const [source, vendor] of Object.entries(vendors)) {
      for (const { id, prices } of findProvider({ providerId: source })?.models ?? []) {
        const rates = (Array.isArray(prices) ? prices[0]?.prices : prices) as SourcePrice;
        const foreign = source === "google" ? !/^(?:gemini|gemma)/.test(id) : source === "openai" && id.startsWith("gpt-oss");
        if (foreign || (rates["input_mtok"] === undefined && rates["output_mtok"] === undefined)) continue;
        for (const [input, output] of [
          [1000, 500],
          [400_000, 10_000],
        ] as const) {
          const theirs = calcPrice({ input_tokens: input, output_tokens: output }, id, { providerId: source, timestamp });
          if (theirs === null || theirs.model.id !== id) continue;
          const ours = costOf(usage(input, output), priceOf(`${vendor}/${id}`));
          expect(Number(ours), `${vendor}/${id}`).toBeCloseTo(theirs.total_price, 9);
          compared += 1;
        }
      }
    }
    expect(compared).toBeGreaterThan(300);
  });

  it("of a batch are a part of the list price, and unknown where nobody says which", () => {
    const price = priceOf("anthropic/claude-sonnet-5");
    expect(costOf(usage(1_000_000, 100_000), price)).toBe("3");
    expect(costOf(usage(1_000_000, 100_000), price, { batch: true })).toBe("1.5");
    expect(costOf(usage(1, 0), price, { batch: true })).toBe("0.000001");
    expect(costOf(usage(1, 1), priceOf("deepseek/deepseek-chat"), { batch: true })).toBeNull();
  });

  it("are all decimal amounts", () => {
    expect(listedPrices().length).toBeGreaterThan(350);
    for (const { price } of listedPrices()) {
      for (const rates of [price, price.longPrompt])
        for (const value of [rates?.input, rates?.output, rates?.cacheRead, rates?.cacheWrite])
          if (value !== undefined) expect(compareUsd(usd(value), usd(0))).toBeGreaterThanOrEqual(0);
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
    const prices = listedPrices().map(({ price }) => price);
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

import { addUsd, fromPicoUsd, toPicoUsd, type Usage, type Usd } from "@keelson/protocol";
import { DATE_SUFFIX, findListed } from "./listed-models.ts";
import type { ModelPrice, PriceTable, TokenPrices } from "./model-price.ts";
import { checkOptionNames } from "../json/option-names.ts";
import { checkPrice } from "./check-price.ts";
import { FLAG_OPTION } from "../json/option-rules.ts";

/** What a usage was bought as. */
export interface CostOptions {
  /** Of a batch, which vendors sell at a part of the list price. */
  readonly batch?: boolean | undefined;
}

/**
 * The price of a model, named by its id, with the provider before it (`groq/openai/gpt-oss-120b`) or without, dated or not; `null`
 * when nobody knows. `overrides` go before the built-in table, and an exact id before an undated one. A provider that the table
 * does not know may serve the models of those whom everybody resells: their list price is taken.
 */
export function priceOf(model: string, overrides?: PriceTable): ModelPrice | null {
  if (overrides !== undefined) {
    for (let name = model; ; name = name.slice(name.indexOf("/") + 1)) {
      for (const candidate of [name, name.replace(DATE_SUFFIX, "")]) {
        const price = Object.hasOwn(overrides, candidate) ? overrides[candidate] : undefined;
        if (price !== undefined) return price;
      }
      if (!name.includes("/")) break;
    }
  }
  return findListed(model)?.price ?? null;
}

/** What this usage costs. `null` when the price is unknown (that of a batch too), or the vendor did not report input and output tokens. */
export function costOf(usage: Usage, price: ModelPrice | null, options: CostOptions = {}): Usd | null {
  checkOptionNames("costOf", options, { batch: FLAG_OPTION });
  if (price !== null) checkPrice("price", price);
  const { batch = false } = options;
  const { inputTokens, outputTokens } = usage;
  if (price === null || inputTokens === null || outputTokens === null) return null;
  const factor = batch ? price.batch : "1";
  if (factor === undefined) return null;
  const rates = ratesFor(price, inputTokens);
  const cacheRead = Math.min(usage.cacheReadTokens ?? 0, inputTokens);
  const cacheWrite = Math.min(usage.cacheCreationTokens ?? 0, inputTokens - cacheRead);
  return perMillion(
    [
      [inputTokens - cacheRead - cacheWrite, rates.input],
      [cacheRead, rates.cacheRead ?? rates.input],
      [cacheWrite, rates.cacheWrite ?? rates.input],
      [outputTokens, rates.output],
    ],
    factor,
  );
}

/** No request of at most these tokens costs more. */
export function worstCase(inputTokensBound: number, maxOutputTokens: number, price: ModelPrice): Usd {
  checkPrice("price", price);
  const rates =
    price.longPrompt !== undefined && inputTokensBound > price.longPrompt.aboveInputTokens ? [price, price.longPrompt] : [price];
  const dearest = (pick: (rate: TokenPrices) => readonly (string | undefined)[]): string =>
    rates
      .flatMap(pick)
      .filter((rate) => rate !== undefined)
      .reduce((a, b) => (toPicoUsd(a) >= toPicoUsd(b) ? a : b));
  return addUsd(
    perMillion([[inputTokensBound, dearest((rate) => [rate.input, rate.cacheRead, rate.cacheWrite])]]),
    perMillion([[maxOutputTokens, dearest((rate) => [rate.output])]]),
  );
}

const PICO = toPicoUsd("1");

function ratesFor(price: ModelPrice, inputTokens: number): TokenPrices {
  return price.longPrompt !== undefined && inputTokens > price.longPrompt.aboveInputTokens ? price.longPrompt : price;
}

/** Rounded up to the pico-dollar, so that a sum of worst cases stays one. */
function perMillion(amounts: readonly (readonly [tokens: number, price: string])[], factor = "1"): Usd {
  let total = 0n;
  for (const [tokens, price] of amounts) {
    if (tokens > 0) total += BigInt(Math.ceil(tokens)) * toPicoUsd(price);
  }
  if (factor === "1") return fromPicoUsd((total + 999_999n) / 1_000_000n);
  const scale = 1_000_000n * PICO;
  return fromPicoUsd((total * toPicoUsd(factor) + scale - 1n) / scale);
}

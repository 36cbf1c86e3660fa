import { addUsd, fromPicoUsd, toPicoUsd, type Usage, type Usd } from "@keelson/protocol";

/** What a model costs, in US dollars per million tokens, as decimal strings. */
export interface TokenPrices {
  readonly input: string;
  readonly output: string;
  /** Tokens read from the vendor's prompt cache. Default: `input`. */
  readonly cacheRead?: string;
  /** Tokens written to it. Default: `input`. */
  readonly cacheWrite?: string;
}

export interface ModelPrice extends TokenPrices {
  /** Whose model it is. Where the vendor is not the key of a provider, a bare model id names no provider. */
  readonly vendor?: string;
  /** The day the price was read, as YYYY-MM-DD. */
  readonly asOf: string;
  /** When a prompt is longer than this, the whole request costs these prices. */
  readonly longPrompt?: TokenPrices & { readonly aboveInputTokens: number };
}

/** Prices by model id, without a provider prefix. A dated id finds the price of its undated form. `null` unsets a built-in price. */
export type PriceTable = { readonly [model: string]: ModelPrice | null };

const AS_OF = "2026-09-23";

function anthropic(input: string, output: string, cacheRead: string, cacheWrite: string): ModelPrice {
  return { vendor: "anthropic", asOf: AS_OF, input, output, cacheRead, cacheWrite };
}

function openai(input: string, output: string, cacheRead: string, longPrompt?: ModelPrice["longPrompt"]): ModelPrice {
  return { vendor: "openai", asOf: AS_OF, input, output, cacheRead, ...(longPrompt && { longPrompt }) };
}

/**
 * List prices of the models that the two default vendors name today. Source: the vendors' public price pages, as collected in
 * the data set of `@pydantic/genai-prices` 0.1.8. Cache writes are those of the five-minute cache, the only one we mark.
 */
export const DEFAULT_PRICES: PriceTable = {
  "claude-haiku-4-5": anthropic("1", "5", "0.1", "1.25"),
  "claude-sonnet-5": anthropic("2", "10", "0.2", "2.5"),
  "claude-sonnet-4-6": anthropic("3", "15", "0.3", "3.75"),
  "claude-sonnet-4-5": {
    ...anthropic("3", "15", "0.3", "3.75"),
    longPrompt: { aboveInputTokens: 200_000, input: "6", output: "22.5", cacheRead: "0.6", cacheWrite: "7.5" },
  },
  "claude-opus-5-5": anthropic("4", "20", "0.2", "5"),
  "claude-opus-5": anthropic("5", "25", "0.5", "6.25"),
  "claude-opus-4-8": anthropic("5", "25", "0.5", "6.25"),
  "claude-opus-4-7": anthropic("5", "25", "0.5", "6.25"),
  "claude-opus-4-6": anthropic("5", "25", "0.5", "6.25"),
  "claude-opus-4-5": anthropic("5", "25", "0.5", "6.25"),
  "claude-opus-4-1": anthropic("15", "75", "1.5", "18.75"),
  "gpt-6-sol": {
    ...openai("2", "10", "0.2", { aboveInputTokens: 272_000, input: "4", output: "15", cacheRead: "0.4", cacheWrite: "5" }),
    cacheWrite: "2.5",
  },
  "gpt-6-luna": {
    ...openai("0.1", "0.5", "0.01", { aboveInputTokens: 272_000, input: "0.2", output: "0.75", cacheRead: "0.02", cacheWrite: "0.25" }),
    cacheWrite: "0.125",
  },
  "gpt-5.5": openai("5", "30", "0.5", { aboveInputTokens: 271_999, input: "10", output: "45", cacheRead: "1" }),
  "gpt-5.4": openai("2.5", "15", "0.25", { aboveInputTokens: 271_999, input: "5", output: "22.5", cacheRead: "0.5" }),
  "gpt-5.4-mini": openai("0.75", "4.5", "0.075"),
  "gpt-5.4-nano": openai("0.2", "1.25", "0.02"),
  "gpt-5.2": openai("1.75", "14", "0.175"),
  "gpt-5.1": openai("1.25", "10", "0.125"),
  "gpt-5": openai("1.25", "10", "0.125"),
  "gpt-5-mini": openai("0.25", "2", "0.025"),
  "gpt-5-nano": openai("0.05", "0.4", "0.005"),
  "gpt-4.1": openai("2", "8", "0.5"),
  "gpt-4.1-mini": openai("0.4", "1.6", "0.1"),
  "gpt-4.1-nano": openai("0.1", "0.4", "0.025"),
  "gpt-4o": openai("2.5", "10", "1.25"),
  "gpt-4o-mini": openai("0.15", "0.6", "0.075"),
  "o3": openai("2", "8", "0.5"),
  "o4-mini": openai("1.1", "4.4", "0.275"),
};

/** `-20251001` of Anthropic, `-2025-08-07` of OpenAI, and the alias `-latest`. */
const DATE_SUFFIX = /-(?:\d{8}|\d{4}-\d{2}-\d{2}|latest)$/;

/**
 * The price of a model id, with or without a provider prefix (`anthropic/…`) or date; `null` when nobody knows. `overrides`
 * go before the built-in table, and an exact id before an undated one.
 */
export function priceOf(model: string, overrides?: PriceTable): ModelPrice | null {
  const bare = model.slice(model.lastIndexOf("/") + 1);
  const candidates = new Set([model, bare, model.replace(DATE_SUFFIX, ""), bare.replace(DATE_SUFFIX, "")]);
  for (const table of [overrides, DEFAULT_PRICES]) {
    if (table === undefined) continue;
    for (const candidate of candidates) {
      const price = Object.hasOwn(table, candidate) ? table[candidate] : undefined;
      if (price !== undefined) return price;
    }
  }
  return null;
}

/** What this usage costs. `null` when the price is unknown, or the vendor did not report input and output tokens. */
export function costOf(usage: Usage, price: ModelPrice | null): Usd | null {
  const { inputTokens, outputTokens } = usage;
  if (price === null || inputTokens === null || outputTokens === null) return null;
  const rates = ratesFor(price, inputTokens);
  const cacheRead = Math.min(usage.cacheReadTokens ?? 0, inputTokens);
  const cacheWrite = Math.min(usage.cacheCreationTokens ?? 0, inputTokens - cacheRead);
  return perMillion([
    [inputTokens - cacheRead - cacheWrite, rates.input],
    [cacheRead, rates.cacheRead ?? rates.input],
    [cacheWrite, rates.cacheWrite ?? rates.input],
    [outputTokens, rates.output],
  ]);
}

/** No request of at most these tokens costs more. */
export function worstCase(inputTokensBound: number, maxOutputTokens: number, price: ModelPrice): Usd {
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

function ratesFor(price: ModelPrice, inputTokens: number): TokenPrices {
  return price.longPrompt !== undefined && inputTokens > price.longPrompt.aboveInputTokens ? price.longPrompt : price;
}

/** Rounded up to the pico-dollar, so that a sum of worst cases stays one. */
function perMillion(amounts: readonly (readonly [tokens: number, price: string])[]): Usd {
  let total = 0n;
  for (const [tokens, price] of amounts) {
    if (tokens > 0) total += BigInt(Math.ceil(tokens)) * toPicoUsd(price);
  }
  return fromPicoUsd((total + 999_999n) / 1_000_000n);
}

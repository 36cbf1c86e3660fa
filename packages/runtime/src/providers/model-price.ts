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
  /** What tokens of a batch cost, as a part of these prices. Absent: unknown. */
  readonly batch?: string;
  /** When a prompt is longer than this, the whole request costs these prices. */
  readonly longPrompt?: TokenPrices & { readonly aboveInputTokens: number };
}

/** Prices by model id, without a provider prefix. A dated id finds the price of its undated form. `null` unsets a built-in price. */
export type PriceTable = { readonly [model: string]: ModelPrice | null };

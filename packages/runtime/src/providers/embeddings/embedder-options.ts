import type { OptionNames } from "../../json/option-names.ts";
import { PROVIDER_OPTIONS, type ProviderOptions } from "../provider-options.ts";
import type { BatchLimits } from "./embed-batches.ts";

export interface EmbedderOptions extends Omit<ProviderOptions, "defaultModel"> {
  readonly model?: string | undefined;
  /** Texts in one request, at most. Default: the vendor's limit. */
  readonly maxBatchTexts?: number | undefined;
  /** Tokens in one request, at most, counted as one for each byte of the texts. Default: what the vendor takes. */
  readonly maxBatchTokens?: number | undefined;
  /** Requests at a time. Default 4. */
  readonly concurrency?: number | undefined;
}

const { defaultModel: _, ...SHARED } = PROVIDER_OPTIONS;
export const EMBEDDER_OPTIONS: OptionNames<EmbedderOptions> = {
  ...SHARED,
  model: true,
  maxBatchTexts: true,
  maxBatchTokens: true,
  concurrency: true,
};

const DEFAULT_CONCURRENCY = 4;

/** @throws RangeError for a limit under which nothing could be sent */
export function batchLimits(options: EmbedderOptions, vendor: { readonly maxTexts: number; readonly maxTokens: number }): BatchLimits {
  const limits = {
    maxTexts: options.maxBatchTexts ?? vendor.maxTexts,
    maxTokens: options.maxBatchTokens ?? vendor.maxTokens,
    concurrency: options.concurrency ?? DEFAULT_CONCURRENCY,
  };
  for (const [name, value] of Object.entries(limits))
    if (!(value >= 1)) throw new RangeError(`${name} of an embedder must be 1 or more, not ${value}`);
  return limits;
}

import type { EstimatedCalls, Usage } from "../usage.ts";
import { count, fields, nullable, oneOf, payload, type Codec } from "./codec.ts";
import { usdCodec } from "./usd-codec.ts";

export const usageCodec: Codec<Usage> = payload(
  "usage",
  fields<Usage>({
    inputTokens: nullable(count),
    outputTokens: nullable(count),
    cacheReadTokens: nullable(count),
    cacheCreationTokens: nullable(count),
    reasoningTokens: nullable(count),
  }),
);

export const estimatedCallsCodec: Codec<EstimatedCalls> = payload(
  "estimate",
  fields<EstimatedCalls>({ modelCalls: count, cost: nullable(usdCodec), withoutUsage: oneOf("reserve", "estimate") }),
);

import type { Usage } from "../usage.ts";
import { count, fields, nullable, payload, type Codec } from "./codec.ts";

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

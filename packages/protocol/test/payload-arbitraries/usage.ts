import fc from "fast-check";
import { fromPicoUsd, type Usage, type Usd } from "@keelson/protocol";
import { asJson, nullable } from "./combinators.ts";
import { count } from "./values.ts";

export const usd: fc.Arbitrary<Usd> = fc.bigInt({ min: 0n, max: 10n ** 15n }).map(fromPicoUsd);
export const cost: fc.Arbitrary<Usd | null> = nullable(usd);

export const usage: fc.Arbitrary<Usage> = asJson<Usage>(
  fc.record({
    inputTokens: nullable(count),
    outputTokens: nullable(count),
    cacheReadTokens: nullable(count),
    cacheCreationTokens: nullable(count),
    reasoningTokens: nullable(count),
  }),
);

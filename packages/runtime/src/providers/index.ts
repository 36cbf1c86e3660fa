export { DEFAULT_MAX_ANSWER_BYTES, type FoldOptions, InferFold, foldInferEvents, parseCallInput } from "./infer-fold.ts";
export { type InferCallOptions, infer, textOf } from "./infer.ts";
export {
  type ListedModel,
  type ModelRegistry,
  type ModelRegistryOptions,
  type ResolvedModel,
  createModelRegistry,
} from "./model-registry.ts";
export { type ListedPrice, listedPrices } from "./listed-models.ts";
export { PRICES_AS_OF } from "./prices.gen.ts";
export { type CostOptions, costOf, priceOf, worstCase } from "./prices.ts";
export type { ModelPrice, PriceTable, TokenPrices } from "./model-price.ts";
export { type ModelFacts, type ModelFactTable, modelFacts } from "./model-facts.ts";
export { type RequestedModel, fitRequest } from "./fit-request.ts";
export { type TokenTarget, inputTokenBound } from "./token-bound.ts";
export { type CalibrationOptions, type TokenCalibration, type TokenEstimate, calibrateTokens } from "./token-calibration.ts";
export { type Tokenizer, loadTokenizer } from "./tokenizer.ts";
export { type TokenCount, type TokenCounter, type TokenCounterOptions, createTokenCounter } from "./token-count/create-token-counter.ts";
export type { CountedPiece, PiecePlace } from "./token-count/count-pieces.ts";
export { type ProviderClock, type RateLimitPermit, type RateLimiter, type RateLimiterOptions, createRateLimiter } from "./rate-limiter.ts";
export { type CircuitBreakerOptions, withCircuitBreaker } from "./circuit-breaker.ts";
export { CIRCUIT_OPEN } from "./circuit-open.ts";
// What its signatures are made of, so that the protocol need not be installed beside this package.
export type { Embedder, InferEvent, InferOptions, InferRequest, InferResponse, ModelInfo, Provider } from "@keelson/protocol";

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
export { type CostOptions, type ModelPrice, type PriceTable, type TokenPrices, costOf, priceOf, worstCase } from "./prices.ts";

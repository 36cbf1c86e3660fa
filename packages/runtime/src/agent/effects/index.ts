export { type BackgroundWork } from "./background-work.ts";
export { declareEffects, directiveEffects, MAX_EFFECTS, type Declaration } from "./declare-effects.ts";
export { createFilterChain, type FilterChain } from "./filter-chain.ts";

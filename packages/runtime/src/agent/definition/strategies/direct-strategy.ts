import type { ExecutionStrategy } from "./strategy.ts";

/** No states and no constraints: every action is done at once, its input passed through. The same as no strategy. */
export type DirectStrategy = ExecutionStrategy & { readonly machine?: undefined };

export function directStrategy(): DirectStrategy {
  return {
    execute: (_action, input) => input,
    tick: () => ({ done: false }),
    snapshot: () => ({ type: "direct" }),
    signalRoutes: () => [],
  };
}

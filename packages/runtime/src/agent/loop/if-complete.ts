import type { Step } from "../turn/moments.ts";

/** A step that is done only where the response that may be the last is whole. */
export function ifComplete({ name, applies, run }: Step): Step {
  return { name, applies: (loop, place) => place.isWhole !== false && applies?.(loop, place) !== false, run };
}

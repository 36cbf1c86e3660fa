import type { Loop } from "./loop.ts";
import { PartKey } from "./run-parts.ts";

/** The context of a run's tools. */
export interface RunToolContext {
  /** `undefined` until it is made, and after it was disposed of. */
  readonly value?: unknown;
  /** Holders of what was made, in the order of their making. */
  readonly held: readonly object[];
}

export const TOOL_CONTEXT: PartKey<RunToolContext> = new PartKey<RunToolContext>("context of tools");

/** Returns the value that calls, hooks and approvals of the run find as `context`. */
export function toolContextOf({ parts }: Pick<Loop, "parts">): unknown {
  return parts.get(TOOL_CONTEXT)?.value;
}

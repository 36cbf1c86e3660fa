import type { Suspension } from "../../session/suspension.ts";
import type { LeafResult } from "../../tools/execute-leaf.ts";

/** What one execution of a call gave. With `ending`, the run ends once this is in the log. */
export type CallExecution = LeafResult & { readonly ending?: Error };

/** An execution that is not over: what it started waits. */
export interface SuspendedExecution {
  readonly suspended: Suspension;
}

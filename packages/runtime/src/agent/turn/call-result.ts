import type { StepResult } from "@keelson/protocol";
import type { Suspension } from "../../session/suspension.ts";
import type { LeafResult } from "../../tools/execute-leaf.ts";

/** What one execution of a call came to. With `ending`, the run ends once this is in the log. */
export type Execution = LeafResult & { readonly suspended?: Suspension; readonly ending?: Error };

/** The same of an execution that is over, also where it threw. */
export type Executed = Execution & { readonly durationMs: number };

export function executedOf(result: StepResult<Execution>): Executed {
  const durationMs = result.endedAt - result.startedAt;
  return result.ok ? { ...result.value, durationMs } : { output: result.failure.message, isError: true, durationMs };
}

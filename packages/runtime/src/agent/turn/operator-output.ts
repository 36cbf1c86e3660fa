import { OperatorError, operatorMetadataOf, toOperatorError, type OperatorOutput, type SubDispatchRecord } from "@keelson/protocol";
import { MAX_SUB_DISPATCHES, type SessionState } from "../../session/session-state.ts";
import { countsOf } from "./run-counts.ts";
import type { RunOutcome } from "../definition/run.ts";

type Halter = Extract<OperatorOutput["exitReason"], { readonly type: "halted" }>["by"];

/** What a run's outcome does not say of its work. */
export interface RunAccount {
  /** By recorded times. */
  readonly durationMs: number;
  readonly subDispatches: readonly SubDispatchRecord[];
  /** Of it and of its children, as budgets count them. */
  readonly counts: ReturnType<typeof countsOf>;
  /** Where untrusted text in its conversation came from. */
  readonly untrusted: readonly string[];
}

export function accountOf(state: SessionState | undefined): RunAccount | undefined {
  const run = state?.run;
  if (run === undefined) return undefined;
  return {
    durationMs: Math.max(0, (state as SessionState).at - run.startedAt),
    subDispatches: run.subDispatches,
    counts: countsOf(run),
    untrusted: (state as SessionState).untrusted,
  };
}

/** @throws OperatorError when the run failed: a failed run never looks like an empty success */
export function operatorOutputOf(outcome: RunOutcome<unknown>, account?: RunAccount): OperatorOutput {
  const { error, reason, text, usage, cost, turns, effects, halted } = outcome;
  if (error) {
    // The run's own words ("Max retries (3) exceeded: …"), with the kind that its model's failure has for an operator.
    const { failure } = toOperatorError(error);
    throw new OperatorError({ ...failure, message: error.message }, { cause: error });
  }
  const subDispatches = account?.subDispatches ?? [];
  const metadata = operatorMetadataOf({ usage, cost, turns, durationMs: account?.durationMs ?? null, subDispatches });
  return {
    // Whoever started it is told what it came to, whatever the model said beside it.
    message: [{ type: "text", text: outcome.output === undefined ? text : JSON.stringify(outcome.output) }],
    exitReason: halted ? { type: "halted", by: halted.by as Halter, reason: halted.reason } : { type: reason },
    metadata: subDispatches.length < MAX_SUB_DISPATCHES ? metadata : { ...metadata, untracked: [...metadata.untracked, "subDispatches"] },
    effects,
  };
}

import { OperatorError, toOperatorError, ZERO_USD, type OperatorOutput } from "@keelson/protocol";
import type { RunOutcome } from "./run.ts";

/** @throws OperatorError when the run failed: a failed run never looks like an empty success */
export function operatorOutputOf(outcome: RunOutcome<unknown>): OperatorOutput {
  const { error, reason, text, usage, cost, turns, effects, halted } = outcome;
  if (error) {
    // The run's own words ("Max retries (3) exceeded: …"), with the kind that its model's failure has for an operator.
    const { failure } = toOperatorError(error);
    throw new OperatorError({ ...failure, message: error.message }, { cause: error });
  }
  const untracked = [
    ...(usage.inputTokens === null ? ["tokensIn"] : []),
    ...(usage.outputTokens === null ? ["tokensOut"] : []),
    ...(cost === null ? ["cost"] : []),
    "duration",
  ];
  return {
    message: [{ type: "text", text }],
    exitReason: halted ? { type: "halted", by: "rule", reason: halted.reason } : { type: reason },
    metadata: {
      tokensIn: usage.inputTokens ?? 0,
      tokensOut: usage.outputTokens ?? 0,
      cost: cost ?? ZERO_USD,
      turnsUsed: turns,
      subDispatches: [],
      durationMs: 0,
      untracked,
    },
    effects,
  };
}

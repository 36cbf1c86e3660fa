import type { RunReason } from "../reason.ts";

/** How earlier agent SDKs name the end of a turn. */
export type TerminationReason = "complete" | "max-turns-exceeded" | "budget-exceeded" | "stopped" | "aborted" | "error";

const TERMINATION: { readonly [K in RunReason]: TerminationReason } = {
  "complete": "complete",
  "no-action": "complete",
  "handed-off": "complete",
  "max-turns": "max-turns-exceeded",
  "budget-exhausted": "budget-exceeded",
  "stopped": "stopped",
  "aborted": "aborted",
  "error": "error",
  "circuit-breaker": "error",
  "safety-stop": "error",
  "halted": "error",
  "timeout": "error",
  "max-output": "error",
  // It can be taken up again, as after a graceful stop.
  "awaiting-approval": "stopped",
  "awaiting-decision": "stopped",
  "awaiting-signal": "stopped",
  "awaiting-timer": "stopped",
  "awaiting-child": "stopped",
};

/** A reason from a later version is an `error`. */
export function toTerminationReason(reason: RunReason): TerminationReason {
  return Object.hasOwn(TERMINATION, reason) ? TERMINATION[reason] : "error";
}

import type { RunReason } from "../reason.ts";

/** Why an agent of the step-and-response design stopped. Plain data: compare with `toEqual`, or by its text form. */
export type AgentStopReason =
  | { readonly type: "text-response" }
  | { readonly type: "max-iterations" }
  | { readonly type: "no-action" }
  | { readonly type: "error"; readonly message: string };

const STOPS: { readonly [K in RunReason]: "text-response" | "max-iterations" | "no-action" | "error" } = {
  "complete": "text-response",
  "handed-off": "text-response",
  "no-action": "no-action",
  "max-turns": "max-iterations",
  "budget-exhausted": "error",
  "stopped": "error",
  "aborted": "error",
  "error": "error",
  "circuit-breaker": "error",
  "safety-stop": "error",
  "halted": "error",
  "timeout": "error",
  "max-output": "error",
  "awaiting-approval": "error",
  "awaiting-decision": "error",
  "awaiting-signal": "error",
  "awaiting-timer": "error",
  "awaiting-child": "error",
};

/** What that design has no word for is an error that names our reason, or says `message`. */
export function toStopReason(reason: RunReason, message: string = reason): AgentStopReason {
  const type = Object.hasOwn(STOPS, reason) ? STOPS[reason] : "error";
  return type === "error" ? { type, message } : { type };
}

/** `text_response`, `max_iterations`, `no_action` or `error: message`. */
export function formatStopReason(reason: AgentStopReason): string {
  return reason.type === "error" ? `error: ${reason.message}` : reason.type.replace("-", "_");
}

import type { Usd } from "./usd.ts";

/** Why a run ended. */
export type EndReason =
  | "complete"
  | "no-action"
  | "handed-off"
  | "error"
  | "circuit-breaker"
  | "safety-stop"
  | "halted"
  | "max-turns"
  | "budget-exhausted"
  | "timeout"
  | "max-output"
  | "stopped"
  | "aborted";

/**
 * The limit at which a run ended. `name` is that of the option that sets it, or `deadline`; dollars are decimal strings, durations
 * milliseconds, the deadline a Unix time in milliseconds.
 */
export type ReachedLimit = {
  readonly name: string;
  readonly limit: number | Usd;
  /** What was used when the run ended. The limit may stand above it: what comes next would have passed it. */
  readonly used: number | Usd;
  /** The budget that has this limit, where it is not the run's own. */
  readonly scope?: string;
};

/** Why a run waits. It goes on under the same id once what it waits for is there. */
export type SuspendReason = "awaiting-approval" | "awaiting-decision" | "awaiting-signal" | "awaiting-timer" | "awaiting-child";

export type RunReason = EndReason | SuspendReason;

const SUSPEND_REASONS: ReadonlySet<string> = new Set<SuspendReason>([
  "awaiting-approval",
  "awaiting-decision",
  "awaiting-signal",
  "awaiting-timer",
  "awaiting-child",
]);

export function isSuspendReason(reason: string): reason is SuspendReason {
  return SUSPEND_REASONS.has(reason);
}

/** Exit codes of the `keelson` command (2 is wrong usage). The record does not compile without a new reason. */
export const EXIT_CODES: { readonly [K in RunReason]: number } = {
  "complete": 0,
  "no-action": 0,
  "handed-off": 0,
  "error": 1,
  "circuit-breaker": 1,
  "safety-stop": 1,
  "halted": 1,
  "max-turns": 3,
  "budget-exhausted": 3,
  "timeout": 3,
  "max-output": 3,
  "awaiting-approval": 4,
  "awaiting-decision": 4,
  "awaiting-signal": 4,
  "awaiting-timer": 4,
  "awaiting-child": 4,
  "stopped": 130,
  "aborted": 130,
};

/** Whether this is one of our endings and suspensions, not one of another system. */
export function isRunReason(reason: string): reason is RunReason {
  return Object.hasOwn(EXIT_CODES, reason);
}

import type { AgentError, Effect, EndReason, EstimatedCalls, ReachedLimit, SuspendReason, Usage, Usd, Wait } from "@keelson/protocol";

/** What every run that came to an end or a wait says. */
interface OutcomeBase {
  /** Text of the last response. */
  readonly text: string;
  /** That response was cut off, by the end of the run or the failure that ended it: `text` is what it had said by then. */
  readonly cut?: true;
  /** Complete turns. */
  readonly turns: number;
  readonly usage: Usage;
  /** `null` when a part of it has no known price. */
  readonly cost: Usd | null;
  /** Model calls of which no usage was told, where there were any, of its children too: what of `cost` is no bill, and how it was counted. */
  readonly estimated?: EstimatedCalls;
  readonly effects: readonly Effect[];
  /** In words: the reason that somebody gave for stopping or aborting it, or what else there is to say of its end. */
  readonly why?: string;
}

/** It came to its response. */
export interface CompleteOutcome<Out = unknown> extends OutcomeBase {
  readonly reason: "complete";
  /** What the agent's `output` asks for; an agent without one gives none. */
  readonly output: Out;
  readonly error?: undefined;
  readonly waits?: undefined;
  readonly halted?: undefined;
  readonly limit?: undefined;
}

/** It failed. */
export interface FailedOutcome extends OutcomeBase {
  readonly reason: "error";
  readonly error: AgentError;
  readonly output?: undefined;
  readonly waits?: undefined;
  readonly halted?: undefined;
  readonly limit?: undefined;
}

/** A rule, a hook or middleware ended it. */
export interface HaltedOutcome extends OutcomeBase {
  readonly reason: "halted";
  /** Who halted it, and why. */
  readonly halted: { readonly by: string; readonly reason: string };
  readonly limit?: undefined;
  readonly output?: undefined;
  readonly error?: undefined;
  readonly waits?: undefined;
}

/** It waits, and goes on under the same id. */
export interface SuspendedOutcome extends OutcomeBase {
  readonly reason: SuspendReason;
  /** What for. */
  readonly waits: readonly Wait[];
  readonly output?: undefined;
  readonly error?: undefined;
  readonly halted?: undefined;
  readonly limit?: undefined;
}

/** It ended early, in a way that is expected: a limit, a stop, a handoff, nothing to say. */
export interface EndedOutcome extends OutcomeBase {
  readonly reason: Exclude<EndReason, "complete" | "error" | "halted">;
  readonly output?: undefined;
  readonly error?: undefined;
  readonly waits?: undefined;
  readonly halted?: undefined;
  /** Of `max-turns`, `budget-exhausted`, `timeout` and `circuit-breaker`, where a limit ended it: which one, and how much of it was used. Logs of the first release do not say. */
  readonly limit?: ReachedLimit;
}

/**
 * How a run ended, or what it waits for, told apart by `reason`: `output` is there when it is `complete`, `error` when it is
 * `error`, `halted` when it is `halted`, `waits` while it waits. Expected endings are values.
 */
export type RunOutcome<Out = unknown> = CompleteOutcome<Out> | FailedOutcome | HaltedOutcome | SuspendedOutcome | EndedOutcome;

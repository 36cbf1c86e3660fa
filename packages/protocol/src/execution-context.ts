import type { CallId, RunId, SessionId } from "./ids.ts";
import type { Decision } from "./approval.ts";
import type { Message } from "./content.ts";
import type { Signal } from "./effect.ts";
import type { DurableEvent, TransientEvent, Wait } from "./event.ts";
import type { Failure } from "./errors/keelson-error.ts";
import type { EffortLevel } from "./inference.ts";
import type { Json, JsonValue } from "./json.ts";
import type { OperatorInput } from "./operator-input.ts";
import type { OperatorOutput } from "./operator-output.ts";
import type { Authority, PermissionMode } from "./permission.ts";
import type { SuspendReason } from "./reason.ts";

/** Why a step failed, as data: recorded, so that a replay fails the same way. */
export type StepFailure = Failure & {
  readonly retryable: boolean;
  readonly retryAfterMs?: number;
};

/** A step resolves to its value or to its failure: both are recorded, both replay. Nothing in it retries. Times are Unix ms. */
export type StepResult<T> =
  | { readonly ok: true; readonly value: T; readonly startedAt: number; readonly endedAt: number }
  | { readonly ok: false; readonly failure: StepFailure; readonly startedAt: number; readonly endedAt: number };

export interface StepAttempt {
  /** 1 at first; more after a crash in the middle of the step. */
  readonly number: number;
  /** The same on every attempt. */
  readonly idempotencyKey: string;
  readonly signal: AbortSignal;
  emit(event: TransientEvent): void;
}

export interface StepSpec<T> {
  readonly key: string;
  run(attempt: StepAttempt): Promise<T>;
}

/** What others wrote to a session. `key` is unique; that of a decision is its token's nonce. */
export type InboxEntry = { readonly seq: number; readonly at: number; readonly key: string } & InboxMessage;

export type InboxMessage =
  | { readonly type: "steer"; readonly message: Message; readonly interrupt: boolean }
  /** `interrupt`: calls that run are ended, too, with what they have so far. Absent: they finish. */
  | { readonly type: "stop"; readonly reason?: string; readonly interrupt?: boolean }
  | { readonly type: "abort"; readonly reason?: string }
  /** For the rest of the session, of this agent. Absent: of the agent whose run is told. */
  | { readonly type: "set-model"; readonly model: string; readonly agent?: string }
  /** Holds for the rest of the run. */
  | { readonly type: "set-permission-mode"; readonly mode: PermissionMode }
  /** Holds for the rest of the run. `null`: the effort of the agent. */
  | { readonly type: "set-effort"; readonly effort: EffortLevel | null }
  /** Before the next model call of the session. `keep`: what a summary is to keep in particular. */
  | { readonly type: "compact"; readonly keep?: string }
  | { readonly type: "decision"; readonly callId: CallId; readonly decision: Decision }
  | { readonly type: "signal"; readonly signal: Signal }
  /** About one piece of work beside the turns, by its id. */
  | { readonly type: "supervise"; readonly action: "stop" | "retry"; readonly child: string }
  | { readonly type: "other"; readonly raw: JsonValue };

/** What `select` can wait for; the first that is there wins, and the verdict is recorded. */
export type SelectBranch =
  | { readonly type: "timer"; readonly at: number }
  | { readonly type: "inbox" }
  | { readonly type: "step"; readonly spec: StepSpec<unknown> };

export interface ChildSpec {
  readonly key: string;
  readonly operator: string;
  readonly input: OperatorInput;
  readonly call?: CallId;
  readonly authority?: Authority;
}

/**
 * All that a run may do that is not pure. Everything goes through it, so that a replay finds in the log what was done.
 * Code above it reads no clock, draws no random number and starts nothing in parallel but through `steps`.
 */
export interface ExecutionContext {
  readonly runId: RunId;
  readonly session: SessionId;
  readonly parent?: { readonly run: RunId; readonly call?: CallId };
  readonly signal: AbortSignal;
  /** Unix ms. */
  readonly deadline?: number;
  readonly authority: Authority;
  /** Does `run` once and records its value or its failure; a replay returns what was recorded. */
  step<T>(key: string, run: (attempt: StepAttempt) => Promise<T & Json<T>>): Promise<StepResult<T>>;
  /** Started in the given order, awaited together: the only way to run steps in parallel, since engines must see one order. */
  steps<const S extends readonly StepSpec<unknown>[]>(
    specs: S,
  ): Promise<{ readonly [I in keyof S]: S[I] extends StepSpec<infer T> ? StepResult<T> : never }>;
  /** The recorded race of timers, inbox and steps. @returns the index of the branch that won */
  select(key: string, branches: readonly SelectBranch[]): Promise<number>;
  /** User code whose verdict matters: run once, its value recorded. A throw is recorded and rethrown as `panic`. */
  decide<T>(point: string, run: () => T | Promise<T>): Promise<T>;
  /** Resolves at that recorded time. @param at Unix ms */
  sleepUntil(key: string, at: number): Promise<void>;
  /** Appends an event; watchers see it after that. A key that is committed already is not committed again. @returns its seq */
  commit(key: string, event: DurableEvent): Promise<number>;
  emit(event: TransientEvent): void;
  /** What arrived since the last point. */
  inbox(point: string): Promise<readonly InboxEntry[]>;
  /** Ends this stretch of work: unwinds the stack; the run goes on when a wait is over. */
  suspend(reason: SuspendReason, waits: readonly Wait[]): never;
  /** Runs a child with its own log. Idempotent by key. */
  startChild(spec: ChildSpec): Promise<OperatorOutput>;
}

import type {
  Authority,
  ChildSpec,
  DurableEvent,
  JsonValue,
  OperatorInput,
  OperatorOutput,
  RunId,
  SerializedError,
  SessionId,
  SuspendReason,
  TransientEvent,
  Wait,
} from "@keelson/protocol";

/** What an execution context is, as data. */
export interface ContextData {
  readonly runId: RunId;
  readonly session: SessionId;
  readonly parent?: { readonly run: RunId };
  /** Unix ms. */
  readonly deadline?: number;
  readonly authority: Authority;
}

/** A function stays in the process that has it: this is its number there. */
export interface StepData {
  readonly key: string;
  readonly task: number;
}

export type BranchData =
  | { readonly type: "timer"; readonly at: number }
  | { readonly type: "inbox" }
  | { readonly type: "step"; readonly spec: StepData };

/** What an operator asks of its execution context, which is in the process that started it. */
export type ContextRequest =
  | { readonly method: "step"; readonly spec: StepData }
  | { readonly method: "steps"; readonly specs: readonly StepData[] }
  | { readonly method: "select"; readonly key: string; readonly branches: readonly BranchData[] }
  | { readonly method: "decide"; readonly point: string; readonly task: number }
  | { readonly method: "sleepUntil"; readonly key: string; readonly at: number }
  | { readonly method: "commit"; readonly key: string; readonly event: DurableEvent }
  | { readonly method: "inbox"; readonly point: string }
  | { readonly method: "startChild"; readonly spec: ChildSpec };

/** How something ended, over there. `value` is absent where it is undefined. */
export type Settled = { readonly ok: true; readonly value?: JsonValue } | { readonly ok: false; readonly error: SerializedError };

/** What goes to the process of an operator. */
export type ToOperator =
  | { readonly type: "execute"; readonly input: OperatorInput; readonly context: ContextData }
  | { readonly type: "abort"; readonly reason: string }
  | { readonly type: "settled"; readonly request: number; readonly result: Settled }
  | { readonly type: "run-task"; readonly task: number; readonly attempt?: { readonly number: number; readonly idempotencyKey: string } }
  | { readonly type: "abort-task"; readonly task: number; readonly reason: string };

/** What comes from the process of an operator. */
export type FromOperator =
  | { readonly type: "ready" }
  | { readonly type: "request"; readonly request: number; readonly ask: ContextRequest }
  | { readonly type: "emit"; readonly event: TransientEvent; readonly task?: number }
  | { readonly type: "task-settled"; readonly task: number; readonly result: Settled }
  | { readonly type: "suspend"; readonly reason: SuspendReason; readonly waits: readonly Wait[] }
  | { readonly type: "output"; readonly output: OperatorOutput }
  | { readonly type: "error"; readonly error: SerializedError };

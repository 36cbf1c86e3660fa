import type {
  Authority,
  CallId,
  CompactionCause,
  CompactionPolicy,
  DurableEvent,
  Effect,
  ToolEffect,
  EndReason,
  Failure,
  JsonObject,
  JsonValue,
  LogRecord,
  Message,
  ModelFailure,
  ReachedLimit,
  SerializedError,
  SessionId,
  Signal,
  SignalKind,
  StepResult,
  StopReason,
  ToolInferenceAnswer,
  Usd,
} from "@keelson/protocol";
import type { ChildEnding } from "./child-state.ts";
import type { OfferedTool } from "./offered-tool.ts";

/** What the events of the protocol say, by their types: the records that watchers see. */
type EventData = { readonly [T in DurableEvent["type"]]: Omit<Extract<DurableEvent, { readonly type: T }>, "type"> };

/** What a decision says: a value where there is one, or that it could not be taken. */
export type VerdictData = {
  readonly value?: JsonValue;
  readonly panic?: { readonly callback: string; readonly message: string };
};

/** A model call as the log tells of it before it is made. */
export type InferenceData = {
  readonly model: string;
  readonly inputBound: number;
  readonly maxTokens?: number;
  /** What may be billed of output, where that is not `maxTokens`. */
  readonly outputTokens?: number;
  readonly reserved?: Usd;
};

/** What a run was started with. */
export type RunTerms = {
  readonly authority: Authority;
  readonly limits: {
    readonly maxTurns: number;
    readonly maxCost?: Usd;
    readonly maxTokens?: number;
    readonly unknownPrice?: "refuse" | "allow";
    readonly withoutUsage?: "reserve" | "estimate";
    readonly onBudget?: "ask" | "end";
    readonly maxDurationMs?: number;
  };
  readonly deadline?: number;
  readonly systemAddendum?: string;
  /** True if the policy in `authority` is that of the agent alone: only then a permission mode that is set replaces the mode of that policy. */
  readonly ownPolicy?: true;
};

/** The limits of a run's own budget once a person raised one of them. */
export type RaisedLimits = {
  /** The id of the budget. */
  readonly scope: string;
  readonly maxCost?: Usd;
  readonly maxTokens?: number;
};

/** How a run ends. */
export type RunEnd = {
  readonly reason: EndReason;
  readonly text: string;
  readonly output?: JsonValue;
  readonly failure?: Failure;
  readonly halted?: { readonly by: string; readonly reason: string };
  readonly limit?: ReachedLimit;
  readonly why?: string;
};

/** What a record about shown events has beside its own data: how far plugins have seen the events of the run. */
type Shown = { readonly shownUpTo?: number };

/**
 * What the data of each type of record in a session's log is. Everything that writes a record, looks one up or folds it goes by
 * this. What an earlier version did not write yet is optional here; types that are not listed (of a later version, or of
 * somebody else) stay in the log and are read by nobody.
 */
export interface RecordData extends Omit<EventData, "state-update" | "inbox-read"> {
  /** Of the session. */
  readonly "session-create": {
    readonly name?: string;
    readonly tags?: readonly string[];
    readonly agent?: string;
    readonly parent?: { readonly session: SessionId; readonly seq: number };
    /** What follows the history of the parent, so that it is whole: results of calls that had none, and what the user said meanwhile. */
    readonly closing?: readonly Message[];
  };
  readonly "session-rename": { readonly name: string };
  readonly "session-tag": { readonly tag: string };
  readonly "session-rewind": {
    readonly length: number;
    readonly turns: number;
    /** What stood before a compaction, which can't be had back by truncating. */
    readonly restored?: readonly { readonly message: Message; readonly policy: CompactionPolicy }[];
    /** The agent's state as it was, where it changed since. */
    readonly agentState?: JsonObject;
  };
  readonly "state-update": EventData["state-update"] & Shown;
  readonly "strategy-state": {
    readonly agent: string;
    readonly state: string;
    readonly from?: string;
    readonly action?: string;
    readonly callId?: CallId;
    readonly signal?: true;
  };

  /** Of the run. */
  readonly "run-terms": RunTerms & { readonly inboxBase?: number; readonly ledger?: string };
  readonly "run-input": { readonly messages: readonly Message[] };
  readonly "limit-raised": RaisedLimits;
  readonly "run-context": { readonly context: JsonObject };
  readonly "instructions": { readonly text: string };
  readonly "events-shown": { readonly upTo: number; readonly types?: readonly string[] };
  readonly "run-ending": RunEnd;

  /** Of the execution context. */
  readonly "decision": VerdictData & Shown;
  readonly "step": StepResult<JsonValue>;
  readonly "step-attempt": Empty;
  readonly "slept": { readonly until: number };
  readonly "selected": { readonly winner: number };
  /** `from`: what was read before, where an operator read it at a point of its own. */
  readonly "inbox-read": EventData["inbox-read"] & { readonly from?: number };
  /** What an operator committed: the log of an operator is folded for its keys alone. */
  readonly "committed": { readonly event: DurableEvent };

  /** Of model calls. */
  readonly "inference": InferenceData;
  readonly "answer": { readonly stopReason: StopReason; readonly overflowed?: true };
  /**
   * `lost`: the request was lost with a kept connection that the server had closed, and can be sent again without a delay. `unusable`:
   * a whole response came, and the run cannot continue from it.
   */
  readonly "inference-failed": { readonly failure: ModelFailure; readonly lost?: true; readonly unusable?: true };
  /** A compaction begins: what it does stands under the same place. */
  readonly "compaction-begin": {
    readonly cause: CompactionCause;
    readonly strategy?: string;
    readonly messages: number;
    readonly tokens: number;
  };
  /** One that was begun, or was due, and came to nothing: it would have gained nothing, or a hook was against it. */
  readonly "compaction-left": { readonly cause: CompactionCause; readonly strategy?: string; readonly why: "no-gain" | "hook" };
  /** What was made beside a turn, to be put in its place at the end of that. */
  readonly "compaction-summary": { readonly text: string };
  readonly "output-repair": { readonly issues: readonly string[] };

  /** Of tool calls. */
  readonly "tool-reserved": {
    readonly callId: CallId;
    readonly tool: string;
    readonly version: string;
    readonly effect: ToolEffect;
    readonly idempotencyKey: string;
  };
  /** What a source offers, where that is not what was recorded of it before: tools that are new or another by now, and names of those that are gone. */
  readonly "tools-offered": {
    readonly agent: string;
    readonly source: string;
    readonly tools?: readonly OfferedTool[];
    readonly removed?: readonly string[];
  };
  /** Tools of sources that a model knew by name alone, and is told of whole from now on. */
  readonly "tools-loaded": { readonly agent: string; readonly tools: readonly string[] };
  /** A tool of a source runs in another version than the session knew, if it knew one: from the next turn on this is the one that is known. */
  readonly "tool-version": { readonly tool: string; readonly version: string };
  readonly "tool-not-done": { readonly callId: CallId };
  /** Values that a tool keeps for the session, by name. */
  readonly "tool-kept": { readonly callId: CallId; readonly values: JsonObject };
  /** It was ended here for a question that nobody has answered: it is made again from its start. */
  readonly "tool-suspended": { readonly callId: CallId };
  /** Nobody waits for the answer to this question any more. */
  readonly "question-closed": { readonly nonce: string };
  /** What a tool was told by the model that it asked. */
  readonly "tool-inference": { readonly callId: CallId; readonly answer: ToolInferenceAnswer };
  readonly "hook-arguments": { readonly arguments: JsonValue };
  readonly "hooks-told": Empty;
  readonly "turn-told": Empty;

  /** Of signals. */
  readonly "signal": Signal & { readonly action: string; readonly callId?: CallId };
  /** `key`: the call's place in the log. Without `kinds`, any will do. `until` is Unix ms. */
  readonly "signal-wait": {
    readonly key: string;
    readonly callId: CallId;
    readonly kinds?: readonly SignalKind[];
    readonly until?: number;
  };
  readonly "signal-given": { readonly callId: CallId; readonly signal: Signal };

  /** Of children, effects and budgets. */
  readonly "child-stop": { readonly child: string };
  readonly "child-settled": { readonly child: string; readonly ending: ChildEnding };
  /** `session`: whose conversation the next one goes on with; else it begins with the task alone. */
  readonly "handed-off": { readonly operator: string; readonly task: string; readonly session?: SessionId };
  readonly "effect": { readonly effect: Effect; readonly id?: string; readonly causationId?: string };
  readonly "directive-rejected": {
    readonly id: string;
    readonly by: string;
    readonly error: SerializedError;
    readonly causationId?: string;
  };
  readonly "effect-attempt": { readonly id: string };
  readonly "effect-done": { readonly id: string; readonly value?: JsonValue; readonly failure?: JsonObject };
  readonly "budget-ledger": { readonly ledger: string };
}

type Empty = { readonly [name in never]: never };

export type RecordType = keyof RecordData;

/** A record of a session's log that this version knows, of one type or of several. */
export type RecordOf<T extends RecordType = RecordType> = {
  readonly [K in T]: Omit<LogRecord, "type" | "data"> & { readonly type: K; readonly data: RecordData[K] };
}[T];

/** A record that is yet to be written. */
export type NewRecordOf<T extends RecordType = RecordType> = {
  readonly [K in T]: { readonly key: string; readonly type: K; readonly data: RecordData[K] };
}[T];

/**
 * Whether a record is of a type. Its data is taken for what this version or an earlier one writes under that type: the log is the
 * runtime's own, and what does not fit ends the fold as a damaged log.
 */
export function isRecordOf<T extends RecordType>(record: LogRecord, ...types: readonly T[]): record is RecordOf<T> {
  return types.some((type) => type === record.type);
}

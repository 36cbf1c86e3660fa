import type { ApprovalRequest, Decision, OpenQuestion } from "./approval.ts";
import type { BudgetAmount, BudgetUnit } from "./budget.ts";
import type { CompactionPolicy, Content, Message } from "./content.ts";
import type { Directive } from "./effect.ts";
import type { AgentFailure } from "./errors/agent-error.ts";
import type { Failure, RecordedFailure } from "./errors/keelson-error.ts";
import type { CallId, Digest, RunId, SessionId } from "./ids.ts";
import type { EffortLevel, RateLimit } from "./inference.ts";
import type { JsonObject, JsonValue } from "./json.ts";
import type { PermissionMode } from "./permission.ts";
import type { EndReason, ReachedLimit, SuspendReason } from "./reason.ts";
import type { EstimatedCalls, Usage } from "./usage.ts";
import type { Usd } from "./usd.ts";

export type CompactionStrategyName =
  | "sliding-window"
  | "policy-trim"
  | "stub-results"
  | "results-first"
  | "summarise"
  | "extract-state"
  | (string & {});
export type CompactionCause = "size" | "request" | "overflow" | (string & {});

type AskedAtLeast = "callId" | "token" | "operation";

/** What a suspended run waits for. `path` leads from the run to the child that waits. */
export type Wait = { readonly path?: readonly string[] } &
  /** The question whole, as `runner.approvals.list()` gives it; logs of the first release have its call, token and tool alone. */
  (
    | ({ readonly type: "approval" | "decision" } & Pick<OpenQuestion, AskedAtLeast> & Partial<Omit<OpenQuestion, "type" | AskedAtLeast>>)
    /** `name` is the kind of signal, `*` any; `session`: whose inbox takes it. */
    | { readonly type: "signal"; readonly name: string; readonly session?: SessionId }
    | { readonly type: "timer"; readonly at: number }
    /** A child that works elsewhere, to its end. */
    | { readonly type: "child"; readonly run: RunId; readonly session: SessionId }
    | { readonly type: "other"; readonly raw: JsonValue }
  );

export type CallSummary = {
  readonly callId: CallId;
  readonly name: string;
  readonly input?: JsonValue;
  readonly inputText: string;
};

/** One limit that was crossed or came near. Of durations, milliseconds. */
export type BudgetEvent = {
  readonly limit: BudgetUnit | "duration";
  readonly used: number | Usd;
  readonly max: number | Usd;
  /** The part of the limit that is used up by now: told once for each limit and run. Absent: the limit itself refused something. */
  readonly threshold?: number;
  /** The budget that has this limit, where it is not the run's own. */
  readonly scope?: string;
};

export type TaskEventKind = "started" | "progress" | "completed" | "failed";

/** What the log keeps and watchers see after its commit. */
export type DurableEvent =
  | {
      readonly type: "run-start";
      readonly session: SessionId;
      readonly agent: string;
      /** Digest of the agent's definition. */
      readonly definition: string;
      readonly model: string;
      /** `session`: the parent's, where it has one. Logs of the first release do not say it. */
      readonly parent?: { readonly run: RunId; readonly call?: CallId; readonly session?: SessionId };
      readonly metadata?: JsonObject;
      /** The permission mode that the run was started with instead of the agent's. */
      readonly permissionMode?: PermissionMode;
      /** The effort that the run was started with instead of the agent's. */
      readonly effort?: EffortLevel;
    }
  | { readonly type: "run-resume"; readonly cause: "decision" | "recovery" | "signal" | "timer" | "child" }
  | { readonly type: "run-suspend"; readonly reason: SuspendReason; readonly waits: readonly Wait[] }
  | { readonly type: "turn-start"; readonly turn: number; readonly model: string }
  | {
      readonly type: "message";
      readonly message: Message;
      readonly policy?: CompactionPolicy;
      /** Where text in it comes from that nobody vouches for, where it is no result of a call: what was remembered, for one. */
      readonly untrusted?: readonly string[];
    }
  | { readonly type: "tool-calls-start"; readonly calls: readonly CallSummary[] }
  | {
      readonly type: "tool-result";
      readonly callId: CallId;
      readonly name: string;
      readonly output: JsonValue;
      readonly isError: boolean;
      readonly durationMs: number;
      /** The whole output, when `output` was truncated. */
      readonly blob?: Digest;
      /** Tool and digest of the arguments that ran; absent when nothing ran. */
      readonly executed?: string;
      /** It changed the world. */
      readonly changed?: boolean;
      /** True if an interrupt ended the call before it was done. */
      readonly interrupted?: boolean;
      /** Where text in it comes from that nobody vouches for. */
      readonly untrusted?: readonly string[];
    }
  | { readonly type: "tool-calls-complete" }
  /** `interrupted`: an interrupt of the run cut the call off. Absent: the process ended while it ran. */
  | { readonly type: "tool-unknown"; readonly callId: CallId; readonly name: string; readonly interrupted?: boolean }
  /** `nonce` is the key under which the inbox takes the one decision. */
  | ({ readonly type: "approval-request"; readonly question: ApprovalRequest["type"]; readonly nonce: string } & Omit<
      ApprovalRequest,
      "type"
    >)
  /** `rules`: patterns of allow rules that hold from now on in this session. `grant`: what the first release wrote, the tool that was asked about. */
  | {
      readonly type: "approval-decision";
      readonly callId: CallId;
      readonly nonce: string;
      readonly decision: Decision;
      readonly rules?: readonly string[];
      readonly grant?: string;
    }
  | {
      readonly type: "child-start";
      readonly callId?: CallId;
      readonly child: RunId;
      readonly session: SessionId;
      readonly agent: string;
      /** It works beside the turns, under this name. Absent: a call waits for it. */
      readonly background?: { readonly name: string; readonly config: JsonObject };
    }
  | {
      readonly type: "child-end";
      readonly child: RunId;
      readonly reason: EndReason;
      readonly usage: Usage;
      readonly cost: Usd | null;
      readonly failure?: Failure;
      /** Of it and of what it started, where a budget above it counts them. */
      readonly counts?: Pick<Required<BudgetAmount>, "turns" | "toolCalls" | "modelCalls">;
      /** What of the cost is estimated. */
      readonly estimated?: EstimatedCalls;
      /** Where text came from that nobody vouches for and that was in its conversation. */
      readonly untrusted?: readonly string[];
    }
  /** `signal`: which one it was, and in a word what was done about it. */
  | {
      readonly type: "inbox-read";
      readonly upTo: number;
      readonly stopping?: "stop" | "abort";
      /** The reason that was given for stopping. */
      readonly why?: string;
      readonly signal?: { readonly kind: string; readonly action: string };
      /** The model that was set, for whose runs in this session. */
      readonly setModel?: { readonly agent: string; readonly model: string };
      /** Somebody asked for a compaction. */
      readonly compact?: true;
      /** The subject that its summary is to keep in particular. */
      readonly compactKeep?: string;
    }
  | { readonly type: "steer"; readonly message: Message; readonly interrupt: boolean }
  | { readonly type: "state-update"; readonly patch: JsonValue }
  /** `id` is the effect's, `causationId` the call or turn that declared it. One to emit an `EmittedEvent` is shown as that event. */
  | { readonly type: "directive"; readonly directive: Directive; readonly id?: string; readonly causationId?: string }
  | {
      readonly type: "usage";
      readonly usage: Usage;
      readonly cost: Usd | null;
      readonly model: string;
      readonly contextUtilization?: number | null;
      /** The vendor told no usage, or not all of it: the rest is what the call could have come to, or (`withoutUsage`) what was seen of it. */
      readonly estimated?: true;
      readonly withoutUsage?: "estimate";
      /** What it was for, where that is no response of the run: a summary of the conversation, or what a tool asked. */
      readonly purpose?: "compaction" | "tool";
    }
  | ({ readonly type: "budget" } & BudgetEvent)
  | ({ readonly type: "rate-limit" } & RateLimit)
  | { readonly type: "task"; readonly taskId: string; readonly kind: TaskEventKind; readonly payload: JsonValue }
  | { readonly type: "suggestion"; readonly suggestions: readonly string[] }
  | {
      readonly type: "compaction";
      readonly summary: string;
      readonly messagesBefore: number;
      readonly messages: readonly Message[];
      /** What compaction may do with each of them, where some are not `normal`. */
      readonly policies?: readonly CompactionPolicy[];
      /**
       * How room was made where a request did not fit: old results became a line each, all that is old a summary, results that are left
       * were cut, all but what must stay was left out; or a part that the vendor refused was left out. Absent: the agent's own
       * `compact` or strategy did it.
       */
      readonly level?: "results" | "summary" | "cut" | "bare" | "refused";
      /** The agent's strategy, where that did it. */
      readonly strategy?: CompactionStrategyName;
      /** Why: the conversation passed a threshold, somebody asked for it, or a request did not fit. Older records don't say. */
      readonly cause?: CompactionCause;
      /** About as many tokens as the conversation came to. */
      readonly tokensBefore?: number;
      readonly tokensAfter?: number;
      /** It gained nothing to speak of: after three such in a row none is begun for a threshold any more. */
      readonly vain?: true;
      /** Where the last request of the user stands in `messages`. */
      readonly request?: number;
    }
  | { readonly type: "retry"; readonly attempt: number; readonly reason: string; readonly delayMs: number; readonly failure?: Failure }
  | { readonly type: "model-switch"; readonly from: string; readonly to: string; readonly reason: string }
  /** Holds for the calls of later responses, until the run ends. `openCalls`: for the open calls, too, because none of them was judged yet. */
  | { readonly type: "permission-mode-switch"; readonly from: PermissionMode; readonly to: PermissionMode; readonly openCalls?: true }
  /** Holds for later model calls, until the run ends. `null`: the effort of the agent. */
  | { readonly type: "effort-switch"; readonly from: EffortLevel | null; readonly to: EffortLevel | null }
  | { readonly type: "definition-change"; readonly from: string; readonly to: string }
  | { readonly type: "turn-end"; readonly turn: number }
  | { readonly type: "run-result"; readonly reason: EndReason; readonly text: string; readonly output?: JsonValue }
  | {
      readonly type: "run-complete";
      readonly reason: EndReason;
      readonly text: string;
      readonly usage: Usage;
      readonly cost: Usd | null;
      /** What of the cost is estimated. */
      readonly estimated?: EstimatedCalls;
      readonly turns: number;
      readonly output?: JsonValue;
      readonly halted?: { readonly by: string; readonly reason: string };
      /** At which it ended, where it was one. */
      readonly limit?: ReachedLimit;
      /** The words of whoever ended it, or of what did. */
      readonly why?: string;
    }
  | { readonly type: "error"; readonly failure: AgentFailure };

/** What watchers see and the log does not keep; its content stands in the next durable event. */
export type TransientEvent =
  | { readonly type: "text-start" }
  | { readonly type: "text-delta"; readonly text: string }
  | { readonly type: "text-end" }
  | { readonly type: "thinking-start" }
  | { readonly type: "thinking-delta"; readonly text: string }
  | { readonly type: "thinking-end" }
  | { readonly type: "tool-call-start"; readonly callId: CallId; readonly name: string }
  | { readonly type: "tool-call-delta"; readonly callId: CallId; readonly text: string }
  | { readonly type: "tool-call-end"; readonly callId: CallId }
  | { readonly type: "tool-progress"; readonly callId: CallId; readonly message: string; readonly ratio?: number }
  | { readonly type: "tool-end"; readonly callId: CallId }
  | { readonly type: "content"; readonly part: Content }
  | { readonly type: "status"; readonly status: string; readonly ratio?: number; readonly level?: "info" | "warn" }
  /** The watcher was too slow: `dropped` transient events are lost to it. */
  | { readonly type: "gap"; readonly dropped: number }
  /** This process lost the session; the run goes on elsewhere. Last of its stream. */
  | { readonly type: "detached" };

/**
 * The types of events that programs may give to `emit`: what they have to tell watchers themselves. All others tell what the
 * runtime did, and are its own to write.
 */
export const EMITTED_TYPES = ["status", "tool-progress", "suggestion", "task"] as const;

/** What an `emit` directive may give, and is shown as. Told by a program, it has a place in the log, whatever its type has otherwise. */
export type EmittedEvent = Extract<DurableEvent | TransientEvent, { readonly type: (typeof EMITTED_TYPES)[number] }>;

/** `path`: the child runs that lead here, outermost first; absent on the run's own events. */
type Origin = {
  readonly runId: RunId;
  readonly path?: readonly string[];
};
/** `seq` is the log's: with it a watcher takes up where it left. */
export type DurablePosition = {
  readonly seq: number;
  readonly at: number;
};
/** `after` is the `seq` of the last durable event before it, `attempt` the model attempt, `n` counts from 1 within both. */
export type TransientPosition = {
  readonly after: number;
  readonly attempt: number;
  readonly n: number;
};

/** What a run of this version shows: these members and no other, so that a `switch` over all of them needs no `default`. */
export type AgentEvent = ((DurableEvent | EmittedEvent) & DurablePosition & Origin) | (TransientEvent & TransientPosition & Origin);

/** An event of a type that this version doesn't know. `seq` and `at` are there when it has a place in the log. */
export type OtherEvent = Origin &
  Partial<DurablePosition> & {
    readonly type: "other";
    readonly raw: JsonObject;
  };

/**
 * What is read from a log or comes from another process, which may be of a later version: an event of a type that this
 * one doesn't know is `other`, and a `switch` that forgets it does not compile.
 */
export type RecordedEvent = Exclude<AgentEvent, { readonly type: "error" }> | (RecordedEnd & DurablePosition & Origin) | OtherEvent;

/** The failure that ended a run, of a kind that a later version may have added. */
export type RecordedEnd = {
  readonly type: "error";
  readonly failure: RecordedFailure<AgentFailure>;
};

const DURABLE: { readonly [K in DurableEvent["type"]]: true } = {
  "run-start": true,
  "run-resume": true,
  "run-suspend": true,
  "turn-start": true,
  "message": true,
  "tool-calls-start": true,
  "tool-result": true,
  "tool-calls-complete": true,
  "tool-unknown": true,
  "approval-request": true,
  "approval-decision": true,
  "child-start": true,
  "child-end": true,
  "inbox-read": true,
  "steer": true,
  "state-update": true,
  "directive": true,
  "usage": true,
  "budget": true,
  "rate-limit": true,
  "task": true,
  "suggestion": true,
  "compaction": true,
  "retry": true,
  "model-switch": true,
  "permission-mode-switch": true,
  "effort-switch": true,
  "definition-change": true,
  "turn-end": true,
  "run-result": true,
  "run-complete": true,
  "error": true,
};

/** Whether a log record of this type is an event that watchers see. */
export function isDurableEventType(type: string): type is DurableEvent["type"] {
  return Object.hasOwn(DURABLE, type);
}

/** True for exactly the two terminal events of a run. */
export function isFinal(event: { readonly type: unknown }): boolean {
  return event.type === "run-complete" || event.type === "error";
}

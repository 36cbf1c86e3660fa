import type { AlwaysChoice, AskedBudget, AskedPart, ApprovalRequest, AskedQuestion, RiskLevel } from "../approval.ts";
import type { CompactionPolicy } from "../content.ts";
import {
  EMITTED_TYPES,
  isDurableEventType,
  type AgentEvent,
  type BudgetEvent,
  type CallSummary,
  type DurableEvent,
  type EmittedEvent,
  type RecordedEnd,
  type RecordedEvent,
  type TaskEventKind,
  type TransientEvent,
  type Wait,
} from "../event.ts";
import type { AgentFailure } from "../errors/agent-error.ts";
import type { Failure, LaterFailure, RecordedFailure } from "../errors/keelson-error.ts";
import type { CallId, RunId, SessionId } from "../ids.ts";
import type { EffortLevel } from "../inference.ts";
import type { JsonObject } from "../json.ts";
import type { EndReason, ReachedLimit, SuspendReason } from "../reason.ts";
import type { Usd } from "../usd.ts";
import {
  count,
  fields,
  flag,
  json,
  jsonObject,
  list,
  member,
  nullable,
  number,
  oneOf,
  optional,
  ratio,
  refuse,
  tagged,
  text,
  word,
  yes,
  type Codec,
  type MemberOf,
  type OtherMember,
} from "./codec.ts";
import { decisionCodec } from "./decision-codec.ts";
import { directiveCodec } from "./effect-codec.ts";
import { contentCodec, digestCodec, messageCodec } from "./message-codec.ts";
import { permissionModeCodec } from "./permission-codec.ts";
import { estimatedCallsCodec, usageCodec } from "./usage-codec.ts";
import { usdCodec } from "./usd-codec.ts";
import { versioned } from "./versioned.ts";

type Durable<T extends DurableEvent["type"]> = Extract<DurableEvent, { readonly type: T }>;
type Recorded = Exclude<DurableEvent, { readonly type: "error" }> | RecordedEnd;
type Transient<T extends TransientEvent["type"]> = Extract<TransientEvent, { readonly type: T }>;

const callId = text<CallId>();
const runId = text<RunId>();
const failure: Codec<Failure> = fields<Failure>({ kind: text(), message: text() });
/** Whatever kind it is of. */
const recordedFailure: Codec<RecordedFailure<AgentFailure>> = fields<LaterFailure>({ kind: text(), message: text() });
const cost = nullable(usdCodec);
const endReason = word<EndReason>();
const effort = word<EffortLevel>();
const path = optional(list(text()));
const risk = oneOf<RiskLevel>("none", "low", "medium", "high", "critical");
const always = optional(
  list(
    fields<AlwaysChoice>({
      scope: oneOf<AlwaysChoice["scope"]>("exact", "command", "tool", "outside", "host", "port", "folder", "edits", "reveal", "lose"),
      rules: list(text()),
    }),
  ),
);
const summary = optional(text());
const parts = optional(list(fields<AskedPart>({ text: text(), why: optional(text()) })));
const asked = optional(
  fields<AskedQuestion>({
    message: text(),
    from: optional(text()),
    schema: optional(jsonObject),
    url: optional(text()),
    issues: optional(list(text())),
  }),
);
const amount: Codec<number | Usd> = {
  decode: (value) => (typeof value === "number" ? number.decode(value) : (usdCodec.part ?? usdCodec).decode(value)),
  encode: (value) => value,
};
const budget = optional(fields<AskedBudget>({ unit: oneOf<AskedBudget["unit"]>("cost", "tokens"), limit: amount, used: amount }));
const question = {
  path,
  callId,
  token: text(),
  operation: text(),
  description: optional(text()),
  risk: optional(risk),
  input: optional(json),
  reason: optional(text()),
  summary,
  parts,
  expiresAt: optional(number),
  always,
  asked,
  budget,
  context: optional(jsonObject),
  session: optional(text<SessionId>()),
  runId: optional(text<RunId>()),
  rootSession: optional(text<SessionId>()),
};

export const waitCodec: Codec<Wait> = versioned(
  "wait",
  tagged<Wait>("a wait", {
    approval: member<MemberOf<Wait, "approval">>(question),
    decision: member<MemberOf<Wait, "decision">>(question),
    signal: member<MemberOf<Wait, "signal">>({ path, name: text(), session: optional(text<SessionId>()) }),
    timer: member<MemberOf<Wait, "timer">>({ path, at: number }),
    child: member<MemberOf<Wait, "child">>({ path, run: runId, session: text<SessionId>() }),
  }),
);

const callSummary = fields<CallSummary>({ callId, name: text(), input: optional(json), inputText: text() });

/** A limit and its use: a count, or dollars as a decimal string. */

const durable = {
  "run-start": member<Durable<"run-start">>({
    session: text<SessionId>(),
    agent: text(),
    definition: text(),
    model: text(),
    parent: optional(
      fields<{ readonly run: RunId; readonly call?: CallId; readonly session?: SessionId }>({
        run: runId,
        call: optional(callId),
        session: optional(text<SessionId>()),
      }),
    ),
    metadata: optional(jsonObject),
    permissionMode: optional(permissionModeCodec),
    effort: optional(effort),
  }),
  "run-resume": member<Durable<"run-resume">>({ cause: word<"decision" | "recovery" | "signal" | "timer" | "child">() }),
  "run-suspend": member<Durable<"run-suspend">>({ reason: word<SuspendReason>(), waits: list(waitCodec) }),
  "turn-start": member<Durable<"turn-start">>({ turn: count, model: text() }),
  "message": member<Durable<"message">>({
    message: messageCodec,
    policy: optional(word<CompactionPolicy>()),
    untrusted: optional(list(text())),
  }),
  "tool-calls-start": member<Durable<"tool-calls-start">>({ calls: list(callSummary) }),
  "tool-result": member<Durable<"tool-result">>({
    callId,
    name: text(),
    output: json,
    isError: flag,
    durationMs: number,
    blob: optional(digestCodec),
    executed: optional(text()),
    changed: optional(flag),
    interrupted: optional(flag),
    untrusted: optional(list(text())),
  }),
  "tool-calls-complete": member<Durable<"tool-calls-complete">>({}),
  "tool-unknown": member<Durable<"tool-unknown">>({ callId, name: text(), interrupted: optional(flag) }),
  "approval-request": member<Durable<"approval-request">>({
    question: oneOf<ApprovalRequest["type"]>("approval", "decision"),
    nonce: text(),
    callId,
    token: text(),
    operation: text(),
    description: text(),
    risk,
    input: json,
    reason: text(),
    summary,
    parts,
    expiresAt: number,
    always,
    asked,
    budget,
    context: optional(jsonObject),
  }),
  "approval-decision": member<Durable<"approval-decision">>({
    callId,
    nonce: text(),
    decision: decisionCodec,
    rules: optional(list(text())),
    grant: optional(text()),
  }),
  "child-start": member<Durable<"child-start">>({
    callId: optional(callId),
    child: runId,
    session: text<SessionId>(),
    agent: text(),
    background: optional(fields<{ readonly name: string; readonly config: JsonObject }>({ name: text(), config: jsonObject })),
  }),
  "child-end": member<Durable<"child-end">>({
    child: runId,
    reason: endReason,
    usage: usageCodec,
    cost,
    failure: optional(failure),
    estimated: optional(estimatedCallsCodec),
    counts: optional(fields<NonNullable<Durable<"child-end">["counts"]>>({ turns: count, toolCalls: count, modelCalls: count })),
    untrusted: optional(list(text())),
  }),
  "inbox-read": member<Durable<"inbox-read">>({
    upTo: count,
    stopping: optional(word<"stop" | "abort">()),
    why: optional(text()),
    signal: optional(fields<{ readonly kind: string; readonly action: string }>({ kind: text(), action: text() })),
    setModel: optional(fields<{ readonly agent: string; readonly model: string }>({ agent: text(), model: text() })),
    compact: optional(yes),
    compactKeep: optional(text()),
  }),
  "steer": member<Durable<"steer">>({ message: messageCodec, interrupt: flag }),
  "state-update": member<Durable<"state-update">>({ patch: json }),
  "directive": member<Durable<"directive">>({ directive: directiveCodec, id: optional(text()), causationId: optional(text()) }),
  "usage": member<Durable<"usage">>({
    usage: usageCodec,
    cost,
    model: text(),
    contextUtilization: optional(nullable(ratio)),
    estimated: optional(yes),
    withoutUsage: optional(word<"estimate">()),
    purpose: optional(word<"compaction" | "tool">()),
  }),
  "budget": member<Durable<"budget">>({
    limit: word<BudgetEvent["limit"]>(),
    used: amount,
    max: amount,
    threshold: optional(number),
    scope: optional(text()),
  }),
  "rate-limit": member<Durable<"rate-limit">>({ utilization: nullable(number), resetAt: nullable(number), allowed: flag }),
  "task": member<Durable<"task">>({ taskId: text(), kind: word<TaskEventKind>(), payload: json }),
  "suggestion": member<Durable<"suggestion">>({ suggestions: list(text()) }),
  "compaction": member<Durable<"compaction">>({
    summary: text(),
    messagesBefore: count,
    messages: list(messageCodec),
    policies: optional(list(word<CompactionPolicy>())),
    level: optional(word<"results" | "summary" | "cut" | "bare" | "refused">()),
    strategy: optional(text()),
    cause: optional(text()),
    tokensBefore: optional(count),
    tokensAfter: optional(count),
    vain: optional(yes),
    request: optional(count),
  }),
  "retry": member<Durable<"retry">>({ attempt: count, reason: text(), delayMs: number, failure: optional(failure) }),
  "model-switch": member<Durable<"model-switch">>({ from: text(), to: text(), reason: text() }),
  "permission-mode-switch": member<Durable<"permission-mode-switch">>({
    from: permissionModeCodec,
    to: permissionModeCodec,
    openCalls: optional(yes),
  }),
  "effort-switch": member<Durable<"effort-switch">>({ from: nullable(effort), to: nullable(effort) }),
  "definition-change": member<Durable<"definition-change">>({ from: text(), to: text() }),
  "turn-end": member<Durable<"turn-end">>({ turn: count }),
  "run-result": member<Durable<"run-result">>({ reason: endReason, text: text(), output: optional(json) }),
  "run-complete": member<Durable<"run-complete">>({
    reason: endReason,
    text: text(),
    usage: usageCodec,
    cost,
    estimated: optional(estimatedCallsCodec),
    turns: count,
    output: optional(json),
    halted: optional(fields<{ readonly by: string; readonly reason: string }>({ by: text(), reason: text() })),
    limit: optional(fields<ReachedLimit>({ name: text(), limit: amount, used: amount, scope: optional(text()) })),
    why: optional(text()),
  }),
  "error": member<RecordedEnd>({ failure: recordedFailure }),
};

const transient = {
  "text-start": member<Transient<"text-start">>({}),
  "text-delta": member<Transient<"text-delta">>({ text: text() }),
  "text-end": member<Transient<"text-end">>({}),
  "thinking-start": member<Transient<"thinking-start">>({}),
  "thinking-delta": member<Transient<"thinking-delta">>({ text: text() }),
  "thinking-end": member<Transient<"thinking-end">>({}),
  "tool-call-start": member<Transient<"tool-call-start">>({ callId, name: text() }),
  "tool-call-delta": member<Transient<"tool-call-delta">>({ callId, text: text() }),
  "tool-call-end": member<Transient<"tool-call-end">>({ callId }),
  "tool-progress": member<Transient<"tool-progress">>({ callId, message: text(), ratio: optional(ratio) }),
  "tool-end": member<Transient<"tool-end">>({ callId }),
  "content": member<Transient<"content">>({ part: contentCodec }),
  "status": member<Transient<"status">>({ status: text(), ratio: optional(ratio), level: optional(word<"info" | "warn">()) }),
  "gap": member<Transient<"gap">>({ dropped: count }),
  "detached": member<Transient<"detached">>({}),
};

/** An event as the log keeps it, without its place there. */
export const durableEventCodec: Codec<Recorded | OtherMember> = versioned("durable event", tagged<Recorded>("an event", durable));

export const transientEventCodec: Codec<TransientEvent | OtherMember> = versioned(
  "transient event",
  tagged<TransientEvent>("an event", transient),
);

const anyEvent = tagged<Recorded | TransientEvent>("an event", { ...durable, ...transient });
const origin = fields<{ readonly runId: RunId; readonly path?: readonly string[] }>({ runId, path });
const durablePosition = fields<{ readonly seq: number; readonly at: number }>({ seq: count, at: number });
const transientPosition = fields<{ readonly after: number; readonly attempt: number; readonly n: number }>({
  after: count,
  attempt: count,
  n: count,
});

/** Whether programs may emit events of this type. */
export function isEmittedType(type: unknown): type is EmittedEvent["type"] {
  return (EMITTED_TYPES as readonly unknown[]).includes(type);
}

/** Whether this version knows events of this type, whoever writes them. */
export function isEventType(type: unknown): type is DurableEvent["type"] | TransientEvent["type"] {
  return typeof type === "string" && (Object.hasOwn(durable, type) || Object.hasOwn(transient, type));
}

/** What a program gave to `emit`, without a place in the log. */
export const emittedEventCodec: Codec<EmittedEvent | OtherMember> = versioned(
  "emitted event",
  tagged<EmittedEvent>("an event", {
    "status": transient["status"],
    "tool-progress": transient["tool-progress"],
    "suggestion": durable["suggestion"],
    "task": durable["task"],
  }),
);

/** An event as watchers get it: of which run, and where it stands. */
export const eventCodec: Codec<RecordedEvent> = versioned("event", {
  decode(value) {
    const event = anyEvent.decode(value);
    const { runId: run, path: way } = origin.decode(value);
    if (event.type === "other") {
      const raw = event.raw as JsonObject;
      if ((raw as unknown) !== value) refuse('"other" is no type of event');
      return {
        type: "other",
        raw,
        runId: run,
        ...(way && { path: way }),
        ...(typeof raw["seq"] === "number" && durablePosition.decode(raw) && { seq: raw["seq"], at: raw["at"] as number }),
      };
    }
    const isPlaced = isDurableEventType(event.type) || (isEmittedType(event.type) && Object.hasOwn(value as JsonObject, "seq"));
    (isPlaced ? durablePosition : transientPosition).decode(value);
    return event as AgentEvent;
  },
  encode: (event) => (event.type === "other" ? event.raw : anyEvent.encode(event)),
});

import fc from "fast-check";
import {
  type AgentEvent,
  type ApprovalRequest,
  type DurableEvent,
  type EmittedEvent,
  EXIT_CODES,
  PERMISSION_MODES,
  RISK_LEVELS,
  type TransientEvent,
  type Wait,
} from "@keelson/protocol";
import { few, nullable, some } from "./combinators.ts";
import { content, message } from "./content.ts";
import { decision } from "./decision.ts";
import { directive } from "./effect.ts";
import { failure } from "./failure.ts";
import { type Members, oneMember } from "./one-member.ts";
import { cost, usage, usd } from "./usage.ts";
import { at, count, digest, flag, id, json, jsonObject, ratio, text } from "./values.ts";

const path = few(id);

const approvalRequest: {
  readonly [
    K in keyof Omit<ApprovalRequest, "type" | "summary" | "parts" | "always" | "asked" | "budget" | "context">
  ]-?: fc.Arbitrary<unknown>;
} = {
  callId: id,
  token: text,
  operation: text,
  description: text,
  risk: fc.constantFrom(...RISK_LEVELS),
  input: json,
  reason: text,
  expiresAt: at,
};
const asked = some({ message: text }, { from: text, schema: jsonObject, url: text, issues: few(text) });
const always = few(
  fc.record({ scope: fc.constantFrom("exact", "command", "tool", "outside", "host", "port", "folder", "edits"), rules: few(text) }),
);
const budget = fc.oneof(
  fc.record({ unit: fc.constant("cost"), limit: usd, used: usd }),
  fc.record({ unit: fc.constant("tokens"), limit: count, used: count }),
);
const parts = few(some({ text }, { why: text }));
const question = fc.oneof(
  some({ callId: id, token: text, operation: text }, { path }),
  some(
    { ...approvalRequest, session: id, runId: id, rootSession: id },
    { path, summary: text, parts, always, asked, budget, context: jsonObject },
  ),
);

export const wait: fc.Arbitrary<Wait> = oneMember<Wait>({
  approval: question,
  decision: question,
  signal: some({ name: text }, { path }),
  timer: some({ at }, { path }),
  child: some({ run: id, session: id }, { path }),
} satisfies Members<Wait>);

const endReason = fc.oneof(fc.constantFrom(...Object.keys(EXIT_CODES)), fc.constant("a-reason-from-the-future"));

const durable: Members<DurableEvent> = {
  "run-start": some(
    { session: id, agent: text, definition: text, model: text },
    {
      parent: some({ run: id }, { call: id, session: id }),
      metadata: jsonObject,
      permissionMode: fc.constantFrom(...PERMISSION_MODES),
      effort: text,
    },
  ),
  "run-resume": fc.record({ cause: fc.constantFrom("decision", "recovery", "signal", "timer", "child") }),
  "run-suspend": fc.record({ reason: endReason, waits: few(wait) }),
  "turn-start": fc.record({ turn: count, model: text }),
  "message": some({ message }, { policy: fc.constantFrom("pinned", "normal"), untrusted: few(text) }),
  "tool-calls-start": fc.record({ calls: few(some({ callId: id, name: text, inputText: text }, { input: json })) }),
  "tool-result": some(
    { callId: id, name: text, output: json, isError: flag, durationMs: count },
    { blob: digest, executed: text, changed: flag },
  ),
  "tool-calls-complete": fc.record({}),
  "tool-unknown": fc.record({ callId: id, name: text }),
  "approval-request": some(
    { question: fc.constantFrom("approval", "decision"), nonce: id, ...approvalRequest },
    { summary: text, parts, always, asked, budget, context: jsonObject },
  ),
  "approval-decision": some({ callId: id, nonce: id, decision }, { rules: fc.array(text, { maxLength: 3 }), grant: text }),
  "child-start": some({ child: id, session: id, agent: text }, { callId: id, background: fc.record({ name: text, config: jsonObject }) }),
  "child-end": some(
    { child: id, reason: endReason, usage, cost },
    { failure, counts: fc.record({ turns: count, toolCalls: count, modelCalls: count }) },
  ),
  "inbox-read": some(
    { upTo: count },
    { stopping: fc.constantFrom("stop", "abort"), why: text, setModel: fc.record({ agent: text, model: text }) },
  ),
  "steer": fc.record({ message, interrupt: flag }),
  "state-update": fc.record({ patch: json }),
  "directive": some({ directive }, { id, causationId: id }),
  "usage": some(
    { usage, cost, model: text },
    {
      contextUtilization: nullable(ratio),
      estimated: fc.constant(true),
      withoutUsage: fc.constant("estimate"),
      purpose: fc.constantFrom("compaction", "tool"),
    },
  ),
  "budget": fc.oneof(
    some({ limit: fc.constant("cost"), used: usd, max: usd }, { threshold: ratio, scope: text }),
    some({ limit: fc.constantFrom("turns", "tokens"), used: count, max: count }, { threshold: ratio, scope: text }),
  ),
  "rate-limit": fc.record({ utilization: nullable(ratio), resetAt: nullable(at), allowed: flag }),
  "task": fc.record({ taskId: id, kind: fc.constantFrom("started", "progress", "completed", "failed"), payload: json }),
  "suggestion": fc.record({ suggestions: few(text) }),
  "compaction": some(
    { summary: text, messagesBefore: count, messages: few(message) },
    {
      policies: few(fc.constantFrom("pinned", "normal", "compress-first")),
      level: fc.constantFrom("results", "summary", "cut", "bare", "refused"),
      strategy: text,
      cause: fc.constantFrom("size", "request", "overflow"),
      tokensBefore: count,
      tokensAfter: count,
      vain: fc.constant(true),
      request: count,
    },
  ),
  "retry": some({ attempt: count, reason: text, delayMs: count }, { failure }),
  "model-switch": fc.record({ from: text, to: text, reason: text }),
  "permission-mode-switch": some(
    { from: fc.constantFrom(...PERMISSION_MODES), to: fc.constantFrom(...PERMISSION_MODES) },
    { openCalls: fc.constant(true) },
  ),
  "effort-switch": fc.record({ from: nullable(text), to: nullable(text) }),
  "definition-change": fc.record({ from: text, to: text }),
  "turn-end": fc.record({ turn: count }),
  "run-result": some({ reason: endReason, text }, { output: json }),
  "run-complete": some(
    { reason: endReason, text, usage, cost, turns: count },
    {
      output: json,
      halted: fc.record({ by: text, reason: text }),
      limit: some({ name: text, limit: fc.oneof(usd, count), used: fc.oneof(usd, count) }, { scope: text }),
      why: text,
    },
  ),
  "error": fc.record({ failure }),
};

const transient: Members<TransientEvent> = {
  "text-start": fc.record({}),
  "text-delta": fc.record({ text }),
  "text-end": fc.record({}),
  "thinking-start": fc.record({}),
  "thinking-delta": fc.record({ text }),
  "thinking-end": fc.record({}),
  "tool-call-start": fc.record({ callId: id, name: text }),
  "tool-call-delta": fc.record({ callId: id, text }),
  "tool-call-end": fc.record({ callId: id }),
  "tool-progress": some({ callId: id, message: text }, { ratio }),
  "tool-end": fc.record({ callId: id }),
  "content": fc.record({ part: content }),
  "status": some({ status: text }, { ratio, level: fc.constantFrom("info", "warn") }),
  "gap": fc.record({ dropped: count }),
  "detached": fc.record({}),
};

const emitted: Members<EmittedEvent> = {
  "status": transient["status"],
  "tool-progress": transient["tool-progress"],
  "suggestion": durable["suggestion"],
  "task": durable["task"],
};

export const DURABLE_TYPES: readonly string[] = Object.keys(durable);
export const TRANSIENT_TYPES: readonly string[] = Object.keys(transient);
export const durableEvent: fc.Arbitrary<DurableEvent> = oneMember<DurableEvent>(durable);
export const emittedEvent: fc.Arbitrary<EmittedEvent> = oneMember<EmittedEvent>(emitted);
export const transientEvent: fc.Arbitrary<TransientEvent> = oneMember<TransientEvent>(transient);
const origin = some({ runId: id }, { path });

const placed = (members: Readonly<Record<string, fc.Arbitrary<unknown>>>, position: fc.Arbitrary<object>): fc.Arbitrary<AgentEvent> =>
  fc
    .tuple(oneMember<object>(members, false), position, origin)
    .map(([event, place, from]) => ({ ...event, ...place, ...(from as object) }) as AgentEvent);

export const event: fc.Arbitrary<AgentEvent> = fc.oneof(
  placed(durable, fc.record({ seq: count, at })),
  placed(transient, fc.record({ after: count, attempt: count, n: count })),
  placed(emitted, fc.record({ seq: count, at })),
);

import fc from "fast-check";
import type {
  AgentEvent,
  ApprovalRequest,
  Authority,
  Content,
  Decision,
  Digest,
  Directive,
  DurableEvent,
  Effect,
  EnvironmentSpec,
  ExitReason,
  InboxMessage,
  InferEvent,
  JsonObject,
  JsonValue,
  KnownAgentEvent,
  Message,
  OperatorConfig,
  OperatorInput,
  OperatorMetadata,
  OperatorOutput,
  PermissionPolicy,
  PermissionRule,
  Query,
  Scope,
  SerializedError,
  Session,
  SessionMetadata,
  Signal,
  TransientEvent,
  Usage,
  Usd,
  Wait,
} from "@keelson/protocol";
import { EXIT_CODES, fromPicoUsd, PERMISSION_MODES, RISK_LEVELS } from "@keelson/protocol";

/** One arbitrary for each member of a union, so that a new member does not compile without one. */
type Members<U extends { readonly type: unknown }> = { readonly [K in Exclude<U["type"], "other"> & string]: fc.Arbitrary<unknown> };

/** As `JSON.parse` gives it: no `undefined`, no -0. */
const asJson = <T>(arbitrary: fc.Arbitrary<unknown>): fc.Arbitrary<T> => arbitrary.map((value) => JSON.parse(JSON.stringify(value)) as T);
const oneMember = <U>(members: Readonly<Record<string, fc.Arbitrary<unknown>>>, other = true): fc.Arbitrary<U> =>
  asJson<U>(
    fc.oneof(
      ...Object.entries(members).map(([type, rest]) => rest.map((fields) => ({ type, ...(fields as object) }))),
      ...(other
        ? [fc.record({ type: fc.constantFrom("from-the-future", "hologram"), text: json }).map((raw) => ({ type: "other", raw }))]
        : []),
    ),
  );
const record = (model: Record<string, fc.Arbitrary<unknown>>, requiredKeys?: readonly string[]): fc.Arbitrary<unknown> =>
  requiredKeys === undefined ? fc.record(model) : fc.record(model, { requiredKeys: [...requiredKeys] });
/** The first argument's fields are required, the second's are not. */
const some = (
  required: Record<string, fc.Arbitrary<unknown>>,
  optional: Record<string, fc.Arbitrary<unknown>> = {},
): fc.Arbitrary<unknown> => record({ ...required, ...optional }, Object.keys(required));
const few = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T[]> => fc.array(arbitrary, { maxLength: 3 });

const text = fc.string({ unit: "grapheme", maxLength: 8 });
const json: fc.Arbitrary<JsonValue> = asJson(fc.jsonValue({ maxDepth: 2 }));
const jsonObject: fc.Arbitrary<JsonObject> = asJson(fc.dictionary(fc.constantFrom("a", "b", "c"), json, { maxKeys: 3 }));
const count = fc.nat({ max: 1_000_000 });
const at = fc.nat({ max: 2 ** 45 });
const flag = fc.boolean();
const ratio = fc.constantFrom(0, 0.25, 1);
const nullable = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(arbitrary, { nil: null });
const usd: fc.Arbitrary<Usd> = fc.bigInt({ min: 0n, max: 10n ** 15n }).map(fromPicoUsd);
const cost = nullable(usd);
const digest = fc
  .string({ unit: fc.constantFrom(..."0123456789abcdef"), minLength: 64, maxLength: 64 })
  .map((hex) => `sha256:${hex}` as Digest);
const id = text as fc.Arbitrary<string>;

export const usage: fc.Arbitrary<Usage> = asJson<Usage>(
  fc.record({
    inputTokens: nullable(count),
    outputTokens: nullable(count),
    cacheReadTokens: nullable(count),
    cacheCreationTokens: nullable(count),
    reasoningTokens: nullable(count),
  }),
);

const providerData = some({ wire: text }, { model: text, id: json });
const source = fc.oneof(fc.record({ data: text }), fc.record({ url: text }), fc.record({ blob: digest }));
const withSource = (rest: fc.Arbitrary<unknown>) => fc.tuple(rest, source).map(([fields, one]) => ({ ...(fields as object), ...one }));
const contentMembers: Members<Content> = {
  "text": some({ text }, { providerData }),
  "thinking": some({ text }, { providerData }),
  "refusal": some({ text }, { providerData }),
  "image": withSource(some({ mediaType: text }, { providerData })),
  "file": withSource(some({ mediaType: text }, { name: text, providerData })),
  "tool-call": some({ id, name: text, inputText: text }, { input: json, custom: fc.constant(true), providerData }),
  "tool-result": some({ id, name: text, output: json }, { isError: flag, blob: digest }),
  "server-tool": some({ name: text, text, providerData }),
};
/** Vendors' own blocks too, which may call themselves what a part of ours is called. */
const vendorBlock = asJson<Content>(
  some(
    { type: fc.constant("other"), raw: fc.oneof(json, fc.record({ type: fc.constantFrom("text", "image", "thinking") })) },
    { providerData },
  ),
).filter((part) => part.type !== "other" || "providerData" in part || !isTaggedWithUnknown(part.raw));
function isTaggedWithUnknown(raw: JsonValue): boolean {
  return (
    typeof raw === "object" &&
    raw !== null &&
    !Array.isArray(raw) &&
    typeof (raw as JsonObject)["type"] === "string" &&
    !(((raw as JsonObject)["type"] as string) in contentMembers)
  );
}
export const content: fc.Arbitrary<Content> = fc.oneof(
  { weight: 5, arbitrary: oneMember<Content>(contentMembers) },
  { weight: 1, arbitrary: vendorBlock },
);
export const message: fc.Arbitrary<Message> = asJson<Message>(
  fc.record({ role: fc.constantFrom("system", "user", "assistant", "tool"), content: few(content) }),
);

export const scope: fc.Arbitrary<Scope> = oneMember<Scope>(
  {
    operator: fc.record({ id }),
    session: fc.record({ id }),
    workflow: fc.record({ id }),
    global: fc.record({}),
    custom: fc.record({ namespace: text, id }),
  } satisfies Members<Scope>,
  false,
);
export const signal: fc.Arbitrary<Signal> = asJson<Signal>(
  fc.record({ kind: fc.oneof(fc.constantFrom("stop", "user-message", "tool-result", "timer"), text), payload: json }),
);
export const directive: fc.Arbitrary<Directive> = oneMember<Directive>({
  "emit": fc.record({ event: jsonObject }),
  "spawn-agent": fc.record({ name: text, config: jsonObject }),
  "stop-child": fc.record({ name: text }),
  "schedule": fc.record({ action: text, delay: fc.constantFrom("30s", "1h 30m", "2days") }),
  "run-instruction": fc.record({ instruction: text, input: json }),
  "cron": some({ expression: text, action: text }, { timeZone: text }),
  "stop": some({}, { reason: text }),
  "spawn-task": fc.record({ description: text, input: json }),
  "stop-task": fc.record({ taskId: id }),
  "custom": fc.record({ customType: text, payload: json }),
} satisfies Members<Directive>);

const meta = some({ id, seq: count, at }, { causationId: id, correlationId: id, outcome: fc.constantFrom("done", "failed") });
const link = some({ scope, from: text, to: text, relation: text }, { meta });
export const effect: fc.Arbitrary<Effect> = oneMember<Effect>({
  "write-memory": some(
    { scope, key: text, value: json },
    {
      meta,
      options: some(
        {},
        {
          ifVersion: count,
          ttlMs: count,
          tier: fc.constantFrom("hot", "warm", "cold"),
          lifetime: text,
          contentKind: text,
          salience: ratio,
          metadata: jsonObject,
        },
      ),
    },
  ),
  "delete-memory": some({ scope, key: text }, { meta }),
  "signal": some({ target: text, signal }, { meta }),
  "delegate": some({ operator: text, message: few(content) }, { meta, metadata: jsonObject }),
  "handoff": some({ operator: text, task: text }, { meta, history: json, metadata: jsonObject }),
  "link-memory": link,
  "unlink-memory": link,
  "tool-approval-required": some({ toolName: text, callId: id, input: json }, { meta }),
  "progress": some({ message: text }, { meta, ratio }),
  "artifact": some({ name: text, mediaType: text, content: json }, { meta }),
  "log": some({ level: fc.constantFrom("debug", "info", "warn", "error"), message: text }, { meta }),
  "observation": some({ name: text, value: json }, { meta }),
  "metric": some({ name: text, value: count }, { meta, unit: text }),
  "directive": some({ directive }, { meta }),
  "custom": some({ name: text, payload: json }, { meta }),
} satisfies Members<Effect>);

const by = { by: text };
export const decision: fc.Arbitrary<Decision> = oneMember<Decision>({
  "allow": some({}, by),
  "deny": some({}, { ...by, reason: text }),
  "allow-always": some({}, by),
  "allow-modified": some({ input: json }, by),
  "abort": some({}, { ...by, reason: text }),
  "retry": some({}, by),
  "supply": some({ output: json }, by),
  "fail": some({}, { ...by, reason: text }),
} satisfies Members<Decision>);

export const permissionRule: fc.Arbitrary<PermissionRule> = asJson<PermissionRule>(
  fc.record({ pattern: text, behavior: fc.constantFrom("allow", "deny", "ask") }),
);
export const permissionPolicy: fc.Arbitrary<PermissionPolicy> = asJson<PermissionPolicy>(
  fc.record({ mode: fc.constantFrom(...PERMISSION_MODES), rules: few(permissionRule) }),
);
const budgetScope = some(
  { id: text },
  {
    maxCost: usd,
    maxTokens: count,
    maxTurns: count,
    maxToolCalls: count,
    maxModelCalls: count,
    unknownPrice: fc.constantFrom("refuse", "allow"),
  },
);
export const authority: fc.Arbitrary<Authority> = asJson<Authority>(
  some(
    { policies: few(permissionPolicy), depth: count },
    { allowedTools: few(text), maxCost: usd, deadline: at, budgets: few(budgetScope) },
  ),
);

const path = few(id);
const question = some({ callId: id, token: text, operation: text }, { path });
export const wait: fc.Arbitrary<Wait> = oneMember<Wait>({
  approval: question,
  decision: question,
  signal: some({ name: text }, { path }),
  timer: some({ at }, { path }),
} satisfies Members<Wait>);

const endReason = fc.oneof(fc.constantFrom(...Object.keys(EXIT_CODES)), fc.constant("a-reason-from-the-future"));
const failure = some({ kind: text, message: text }, { status: count });
const approvalRequest: { readonly [K in keyof Omit<ApprovalRequest, "type" | "context">]-?: fc.Arbitrary<unknown> } = {
  callId: id,
  token: text,
  operation: text,
  description: text,
  risk: fc.constantFrom(...RISK_LEVELS),
  input: json,
  reason: text,
  expiresAt: at,
};
const durable: Members<DurableEvent> = {
  "run-start": some(
    { session: id, agent: text, definition: text, model: text },
    { parent: some({ run: id }, { call: id }), metadata: jsonObject },
  ),
  "run-resume": fc.record({ cause: fc.constantFrom("decision", "recovery", "signal", "timer") }),
  "run-suspend": fc.record({ reason: endReason, waits: few(wait) }),
  "turn-start": fc.record({ turn: count, model: text }),
  "message": some({ message }, { policy: fc.constantFrom("pinned", "normal") }),
  "tool-calls-start": fc.record({ calls: few(some({ callId: id, name: text, inputText: text }, { input: json })) }),
  "tool-result": some(
    { callId: id, name: text, output: json, isError: flag, durationMs: count },
    { blob: digest, executed: text, changed: flag },
  ),
  "tool-calls-complete": fc.record({}),
  "tool-unknown": fc.record({ callId: id, name: text }),
  "approval-request": some({ question: fc.constantFrom("approval", "decision"), nonce: id, ...approvalRequest }, { context: jsonObject }),
  "approval-decision": some({ callId: id, nonce: id, decision }, { grant: text }),
  "child-start": some({ child: id, session: id, agent: text }, { callId: id, background: fc.record({ name: text, config: jsonObject }) }),
  "child-end": some(
    { child: id, reason: endReason, usage, cost },
    { failure, counts: fc.record({ turns: count, toolCalls: count, modelCalls: count }) },
  ),
  "inbox-read": some({ upTo: count }, { stopping: fc.constantFrom("stop", "abort") }),
  "steer": fc.record({ message, interrupt: flag }),
  "state-update": fc.record({ patch: json }),
  "directive": some({ directive }, { id, causationId: id }),
  "usage": some({ usage, cost, model: text }, { contextUtilization: nullable(ratio), estimated: fc.constant(true) }),
  "budget": fc.oneof(
    some({ limit: fc.constant("cost"), used: usd, max: usd }, { threshold: ratio, scope: text }),
    some({ limit: fc.constantFrom("turns", "tokens"), used: count, max: count }, { threshold: ratio, scope: text }),
  ),
  "rate-limit": fc.record({ utilization: nullable(ratio), resetAt: nullable(at), allowed: flag }),
  "task": fc.record({ taskId: id, kind: fc.constantFrom("started", "progress", "completed", "failed"), payload: json }),
  "suggestion": fc.record({ suggestions: few(text) }),
  "compaction": fc.record({ summary: text, messagesBefore: count, messages: few(message) }),
  "retry": some({ attempt: count, reason: text, delayMs: count }, { failure }),
  "model-switch": fc.record({ from: text, to: text, reason: text }),
  "definition-change": fc.record({ from: text, to: text }),
  "turn-end": fc.record({ turn: count }),
  "run-result": some({ reason: endReason, text }, { output: json }),
  "run-complete": some(
    { reason: endReason, text, usage, cost, turns: count },
    { output: json, halted: fc.record({ by: text, reason: text }) },
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
export const DURABLE_TYPES: readonly string[] = Object.keys(durable);
export const TRANSIENT_TYPES: readonly string[] = Object.keys(transient);
export const durableEvent: fc.Arbitrary<DurableEvent> = oneMember<DurableEvent>(durable);
export const transientEvent: fc.Arbitrary<TransientEvent> = oneMember<TransientEvent>(transient);
const origin = some({ runId: id }, { path });
const placed = (members: Readonly<Record<string, fc.Arbitrary<unknown>>>, position: fc.Arbitrary<object>): fc.Arbitrary<KnownAgentEvent> =>
  fc
    .tuple(oneMember<object>(members, false), position, origin)
    .map(([event, place, from]) => ({ ...event, ...place, ...(from as object) }) as KnownAgentEvent);
export const event: fc.Arbitrary<AgentEvent> = fc.oneof(
  placed(durable, fc.record({ seq: count, at })),
  placed(transient, fc.record({ after: count, attempt: count, n: count })),
);

export const exitReason: fc.Arbitrary<ExitReason> = asJson<ExitReason>(
  fc.oneof(
    fc.constantFrom(...Object.keys(EXIT_CODES)).map((type) => ({ type })),
    fc.record({ type: fc.constant("halted"), by: fc.constantFrom("rule", "middleware", "hook", "plugin", "strategy"), reason: text }),
    fc.record({ type: fc.constant("safety-stop"), reason: text }),
    fc.record({ type: fc.constant("custom"), name: text }),
    fc.record({ type: fc.constant("from-the-future"), why: json }).map((raw) => ({ type: "other", raw })),
  ),
);
export const operatorConfig: fc.Arbitrary<OperatorConfig> = asJson<OperatorConfig>(
  some({}, { maxTurns: count, maxCost: usd, maxDurationMs: count, model: text, allowedOperators: few(text), systemAddendum: text }),
);
export const operatorInput: fc.Arbitrary<OperatorInput> = asJson<OperatorInput>(
  some(
    { message: few(content), trigger: fc.constantFrom("user", "task", "signal", "mine"), metadata: jsonObject },
    { session: id, config: operatorConfig },
  ),
);
export const operatorMetadata: fc.Arbitrary<OperatorMetadata> = asJson<OperatorMetadata>(
  fc.record({
    tokensIn: count,
    tokensOut: count,
    cost: usd,
    turnsUsed: count,
    subDispatches: few(fc.record({ name: text, durationMs: count, success: flag })),
    durationMs: count,
    untracked: few(text),
  }),
);
export const operatorOutput: fc.Arbitrary<OperatorOutput> = asJson<OperatorOutput>(
  fc.record({ message: few(content), exitReason, metadata: operatorMetadata, effects: few(effect) }),
);
export const query: fc.Arbitrary<Query> = asJson<Query>(fc.record({ name: text, params: jsonObject }));

export const sessionMetadata: fc.Arbitrary<SessionMetadata> = asJson<SessionMetadata>(
  some(
    { id, tags: few(text), agentName: text, createdAt: at, updatedAt: at, turnCount: count, totalTokens: count, usage, cost },
    { name: text, parent: fc.record({ session: id, seq: count }), damaged: text },
  ),
);
export const session: fc.Arbitrary<Session> = asJson<Session>(
  fc.record({ metadata: sessionMetadata, messages: few(message), state: jsonObject }),
);
export const inboxMessage: fc.Arbitrary<InboxMessage> = oneMember<InboxMessage>({
  "steer": fc.record({ message, interrupt: flag }),
  "stop": fc.record({}),
  "abort": some({}, { reason: text }),
  "set-model": fc.record({ model: text }),
  "decision": fc.record({ callId: id, decision }),
  "signal": fc.record({ signal }),
  "supervise": fc.record({ action: fc.constantFrom("stop", "retry"), child: text }),
} satisfies Members<InboxMessage>);
export const inferEvent: fc.Arbitrary<InferEvent> = oneMember<InferEvent>({
  "text-start": fc.record({}),
  "text-delta": fc.record({ text }),
  "text-end": some({}, { providerData }),
  "thinking-start": fc.record({}),
  "thinking-delta": fc.record({ text }),
  "thinking-end": some({}, { providerData }),
  "tool-call-start": some({ index: count, id, name: text }, { custom: fc.constant(true) }),
  "tool-call-delta": fc.record({ index: count, text }),
  "tool-call-end": some({ index: count }, { providerData }),
  "content": fc.record({ part: content }),
  "rate-limit": fc.record({ rateLimit: fc.record({ utilization: nullable(ratio), resetAt: nullable(at), allowed: flag }) }),
  "end": some({ stopReason: text, rawStopReason: nullable(text), usage, model: text }, { providerData }),
} satisfies Members<InferEvent>);
const networkRule = some({ destination: text, action: fc.constantFrom("allow", "deny") }, { port: count });
export const environmentSpec: fc.Arbitrary<EnvironmentSpec> = asJson<EnvironmentSpec>(
  some(
    {
      isolation: few(
        fc.oneof(
          fc.constantFrom("process", "gvisor", "micro-vm").map((type) => ({ type })),
          some({ type: fc.constant("container") }, { image: text }),
          some({ type: fc.constant("wasm") }, { runtime: text }),
          fc.record({ type: fc.constant("network-policy"), rules: few(networkRule) }),
          fc.record({ type: fc.constant("custom"), name: text }),
        ),
      ),
      credentials: few(
        fc.record({
          name: text,
          reference: text,
          injection: fc.oneof(
            fc.record({ type: fc.constant("env-var"), variable: text }),
            fc.record({ type: fc.constant("file"), path: text }),
            fc.record({ type: fc.constant("sidecar") }),
          ),
        }),
      ),
    },
    {
      resources: some({}, { cpu: text, memory: text, disk: text, gpu: text }),
      network: fc.record({ default: fc.constantFrom("allow", "deny"), rules: few(networkRule) }),
    },
  ),
);

export const serializedError: fc.Arbitrary<SerializedError> = asJson<SerializedError>(
  some({ v: fc.constant(1), error: text, failure, retryable: flag }, { cause: text }),
);

/** Adds a field that no version knows yet to every object, wherever it stands. */
export function withFutureFields(value: JsonValue, future: JsonValue): JsonValue {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item: JsonValue) => withFutureFields(item, future));
  return {
    ...Object.fromEntries(Object.entries(value as JsonObject).map(([name, inner]) => [name, withFutureFields(inner as JsonValue, future)])),
    "x-future": future,
  };
}

export { json };

import {
  AgentError,
  compareUsd,
  ModelError,
  subtractUsd,
  UNKNOWN_USAGE,
  ZERO_USD,
  type Content,
  type DurableEvent,
  type InferEnd,
  type InferEvent,
  type InferRequest,
  type JsonObject,
  type JsonValue,
  type Message,
  type ModelFailure,
  type StepAttempt,
  type StepResult,
  type StopReason,
  type ToolCallPart,
  type Usage,
  type Usd,
} from "@keelson/protocol";
import { compileRequest } from "../../context/compile-request.ts";
import { foldInferEvents, type InferFold } from "../../providers/infer-fold.ts";
import { costOf, worstCase } from "../../providers/prices.ts";
import { modelName, type ModelErrorAction, type RunContext } from "../agent.ts";
import type { Model } from "../model-source.ts";
import { callIdOf } from "./call-id.ts";
import { retryDelayMs } from "./retry-delay.ts";
import { runOf, sessionOf, type Loop } from "./loop.ts";
import { readInbox } from "./read-inbox.ts";
import { checkEnding, RunEnding } from "./run-ending.ts";

/** What an inference gave, as the log keeps it beside the message. */
export interface Answer {
  /** Counts the model calls of the turn from 0, retries included. */
  readonly modelCall: number;
  readonly message: Message;
  readonly calls: readonly ToolCallPart[];
  readonly stopReason: StopReason;
  readonly overflowed: boolean;
}

const DEFAULT_MAX_OUTPUT_TOKENS = 4096;
const LEAST_OUTPUT_TOKENS = 1024;

/**
 * One answer of the model: reserve, infer, settle, commit the message; on failure retry, then fall back, then end. `from`
 * is the number of the turn's first model call that is not spoken for.
 */
export async function inferAnswer(loop: Loop, turn: string, from: number, system: string | undefined): Promise<Answer> {
  const { execution, limits } = loop;
  let retries = 0;
  let compacted = false;
  for (let modelCall = from; ; modelCall++) {
    const key = `${turn}/infer/${modelCall}`;
    const settled = execution.lookup(`${key}/answer`);
    if (settled) return answerFrom(loop, settled.data, modelCall);
    const failed = execution.lookup(`${key}/failed`)?.data as FailedAttempt | undefined;
    let failure: ModelFailure;
    if (failed) failure = failed.failure;
    else {
      checkEnding(loop);
      if (execution.lookup(key)) {
        settleUnseen(loop, key);
        continue;
      }
      if (runOf(loop).totals.modelCalls >= limits.maxModelCalls) throw new RunEnding("max-turns");
      const outcome = await attemptInference(loop, key, modelCall, system);
      if ("answer" in outcome) return outcome.answer;
      failure = outcome.failure;
    }
    if (failure.kind === "cancelled" && !execution.signal.aborted) {
      await readInbox(loop, `${key}/interrupted`);
      execution.put(`${key}/retry`, { type: "retry", attempt: 0, reason: "interrupted", delayMs: 0 });
      continue;
    }
    checkEnding(loop);
    if (failure.kind === "context-overflow" && !compacted && loop.agent.options.compact) {
      compacted = true;
      await compact(loop, `${turn}/compact/${modelCall}`);
      continue;
    }
    retries = await decideAfterFailure(loop, key, failure, retries);
  }
}

interface FailedAttempt extends JsonObject {
  readonly failure: ModelFailure & JsonObject;
}

/** What to do about a failure: wait and retry, switch the model, or end. @returns the retries on the current model */
async function decideAfterFailure(loop: Loop, key: string, failure: ModelFailure, retries: number): Promise<number> {
  const { execution, limits, agent } = loop;
  const retryable = failure.kind === "rate-limit" || failure.kind === "server-error";
  const fallback = agent.options.fallbackModel === undefined ? undefined : modelName(agent.options.fallbackModel);
  const own = await askOnModelError(loop, key, failure, retries);
  const canFallBack = fallback !== undefined && fallback !== runOf(loop).model;
  const action: ModelErrorAction =
    own ?? (retryable && retries < limits.maxRetries ? { type: "retry" } : retryable && canFallBack ? { type: "switch-model", model: fallback } : { type: "abort", message: failure.message });
  if (action.type === "retry" && retries < limits.maxRetries) {
    const attempt = retries + 1;
    if (!execution.lookup(`${key}/retry`)) {
      const delayMs = retryDelayMs(attempt, "retryAfterMs" in failure ? failure.retryAfterMs : undefined, loop.random());
      execution.put(`${key}/retry`, { type: "retry", attempt, reason: failure.kind, delayMs, failure });
    }
    const recorded = execution.lookup(`${key}/retry`);
    await execution.flush();
    await execution.sleepUntil(`${key}/backoff`, (recorded?.at ?? 0) + ((recorded?.data["delayMs"] as number | undefined) ?? 0));
    await readInbox(loop, `${key}/after-backoff`);
    return attempt;
  }
  const to = action.type === "switch-model" ? action.model : action.type === "retry" && retryable && canFallBack ? fallback : undefined;
  if (to !== undefined && to !== runOf(loop).model) {
    checkSameWire(loop, to);
    execution.put(`${key}/switch`, { type: "model-switch", from: runOf(loop).model, to, reason: failure.kind });
    execution.put(`${key}/retry`, { type: "retry", attempt: 0, reason: failure.kind, delayMs: 0, failure });
    return 0;
  }
  const switched = execution.lookup(`${key}/switch`);
  if (switched) return 0;
  const message = action.type === "abort" ? action.message : retries > 0 ? `Max retries (${limits.maxRetries}) exceeded: ${failure.message}` : failure.message;
  throw new RunEnding("error", { failure: { kind: "model", message, model: failure } as never });
}

async function askOnModelError(loop: Loop, key: string, failure: ModelFailure, retryCount: number): Promise<ModelErrorAction | undefined> {
  const { onModelError } = loop.agent.options;
  if (onModelError === undefined) return undefined;
  const context = runContext(loop, retryCount);
  return (await loop.execution.decide(`${key}/on-model-error`, async () => (await onModelError(failure, context)) ?? null)) ?? undefined;
}

export function runContext(loop: Loop, retryCount: number): RunContext {
  const session = sessionOf(loop);
  return { session: session.id, runId: runOf(loop).id, model: runOf(loop).model, retryCount, cumulativeCost: session.totals.cost, metadata: loop.metadata };
}

/** Until conversations are rewritten from wire to wire, a run stays on the wire it began on. */
export function checkSameWire(loop: Loop, to: string): void {
  const from = loop.models.resolve(runOf(loop).model);
  const target = loop.models.resolve(to);
  if (from.provider.wire === target.provider.wire) return;
  throw new AgentError({ kind: "invalid-option", option: "model", message: `The run speaks ${from.provider.wire} (${from.reference}); a switch to ${target.reference} (${target.provider.wire}) is not supported in mid-session yet. Choose a model on the same wire.` });
}

type Outcome = { readonly answer: Answer } | { readonly failure: ModelFailure };

async function attemptInference(loop: Loop, key: string, modelCall: number, system: string | undefined): Promise<Outcome> {
  const { execution } = loop;
  const model = loop.models.resolve(runOf(loop).model);
  const request = await compile(loop, key, model, system);
  const inputBound = loop.context.conversation.bytes + Buffer.byteLength(system ?? "") + toolBytes(request);
  const reservation = await reserve(loop, key, model, request, inputBound);
  execution.note(key, "inference", { model: model.reference, inputBound, ...(reservation.maxTokens !== undefined && { maxTokens: reservation.maxTokens }), ...(reservation.amount && { reserved: reservation.amount }) });
  const final = reservation.maxTokens === undefined || reservation.maxTokens === request.maxTokens ? request : { ...request, maxTokens: reservation.maxTokens };
  await execution.flush();
  if (execution.signal.aborted) {
    await settle(loop, key, model, NOTHING_USED, ZERO_USD, false);
    checkEnding(loop);
  }

  loop.nextAttempt();
  const fold = foldInferEvents({ maxAnswerBytes: loop.limits.maxAnswerBytes });
  const result = await loop.context.run<StepResult<true>>({
    type: "infer",
    key,
    input: { model: model.reference },
    execute: () => execution.attempt(key, modelCall + 1, (attempt) => stream(loop, model, final, fold, attempt, modelCall)),
    show: (output) => (output.ok ? ({ content: fold.content, stopReason: fold.end?.stopReason ?? null } as unknown as JsonValue) : { failure: output.failure as unknown as JsonValue }),
  });

  if (result.ok) {
    const end = fold.end;
    const usage = end?.usage ?? estimatedUsage(inputBound, fold.bytes);
    const known = costOf(usage, model.price);
    const estimated = end === undefined || (known === null && model.price !== null);
    const cost = known ?? (model.price === null ? null : costOf(estimatedUsage(inputBound, fold.bytes), model.price));
    return { answer: await commitAnswer(loop, key, modelCall, model, fold, end, usage, cost, estimated) };
  }
  const failure = modelFailureOf(result.failure, model);
  const received = fold.bytes > 0;
  const usage = received ? estimatedUsage(inputBound, fold.bytes) : NOTHING_USED;
  await settle(loop, key, model, usage, received ? (model.price === null ? null : costOf(usage, model.price)) : ZERO_USD, received);
  execution.note(`${key}/failed`, "inference-failed", { failure: failure as unknown as JsonValue });
  return { failure };
}

const NOTHING_USED: Usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheCreationTokens: 0, reasoningTokens: 0 };

async function compile(loop: Loop, key: string, model: Model, system: string | undefined): Promise<InferRequest> {
  const { options, output } = loop.agent;
  return loop.context.run<InferRequest>({
    type: "compile",
    key: `${key}/compile`,
    execute: (context) =>
      compileRequest({
        model: model.id,
        ...(system !== undefined && { system }),
        tools: loop.tools.schemas(),
        messages: context.messages,
        settings: {
          ...options.settings,
          ...(options.effort && { effort: options.effort }),
          ...(options.thinking && { thinking: options.thinking }),
          ...(output && { output: outputRequest(loop) }),
        },
      }),
  });
}

function outputRequest(loop: Loop): NonNullable<InferRequest["output"]> {
  return { name: loop.agent.name.replace(/[^\w-]/g, "_"), schema: loop.outputSchema as JsonObject };
}

/** Feeds the provider's stream into the fold and to watchers. Leaves early once the answer is longer than allowed. */
async function stream(loop: Loop, model: Model, request: InferRequest, fold: InferFold, attempt: StepAttempt, modelCall: number): Promise<true> {
  const watched = loop.watched();
  const ids: string[] = [];
  // The run's signal, or a message that interrupts, ends this attempt.
  const controller = new AbortController();
  const abort = (): void => controller.abort(attempt.signal.reason);
  attempt.signal.addEventListener("abort", abort, { once: true });
  loop.interrupt = () => controller.abort("interrupted");
  try {
  for await (const event of model.provider.stream(request, { signal: controller.signal, idempotencyKey: attempt.idempotencyKey, conversation: loop.context.conversation })) {
    fold.push(event);
    if (watched) show(loop, event, ids, modelCall);
    if (fold.overflowed) return true;
  }
  } finally {
    loop.interrupt = undefined;
    attempt.signal.removeEventListener("abort", abort);
  }
  if (fold.end === undefined) throw new ModelError({ kind: "server-error", message: `the stream of ${model.reference} ended before its end`, provider: model.provider.name, model: model.id });
  return true;
}

function show(loop: Loop, event: InferEvent, ids: string[], modelCall: number): void {
  switch (event.type) {
    case "text-delta":
    case "thinking-delta":
      loop.delta(event.type, event.text);
      return;
    case "text-start":
    case "text-end":
    case "thinking-start":
    case "thinking-end":
      loop.execution.emit({ type: event.type });
      return;
    case "tool-call-start":
      loop.execution.emit({ type: "tool-call-start", callId: (ids[event.index] = callIdOf(runOf(loop), modelCall, event.index)) as never, name: event.name });
      return;
    case "tool-call-delta":
      loop.execution.emit({ type: "tool-call-delta", callId: ids[event.index] as never, text: event.text });
      return;
    case "tool-call-end":
      loop.execution.emit({ type: "tool-call-end", callId: ids[event.index] as never });
      return;
    case "content":
      loop.execution.emit({ type: "content", part: event.part });
      return;
    case "rate-limit":
    case "end":
      return;
  }
}

async function commitAnswer(loop: Loop, key: string, modelCall: number, model: Model, fold: InferFold, end: InferEnd | undefined, usage: Usage, cost: Usd | null, estimated: boolean): Promise<Answer> {
  const { execution } = loop;
  let index = 0;
  const content = fold.content.map((part): Content => (part.type === "tool-call" ? { ...part, id: callIdOf(runOf(loop), modelCall, index++) } : part));
  const message: Message = { role: "assistant", content };
  await settle(loop, key, model, usage, cost, estimated);
  await loop.context.run({
    type: "append-response",
    key: `${key}/append`,
    execute: () => execution.put(`${key}/message`, { type: "message", message }),
  });
  const stopReason = end?.stopReason ?? "max-tokens";
  execution.note(`${key}/answer`, "answer", { stopReason, ...(fold.overflowed && { overflowed: true }) });
  return { modelCall, message, calls: content.filter(isToolCall), stopReason, overflowed: fold.overflowed };
}

function answerFrom(loop: Loop, data: JsonObject, modelCall: number): Answer {
  const { execution } = loop;
  const turn = `t${runOf(loop).turn}`;
  const message = execution.lookup(`${turn}/infer/${modelCall}/message`)?.data["message"] as unknown as Message;
  return { modelCall, message, calls: message.content.filter(isToolCall), stopReason: data["stopReason"] as StopReason, overflowed: data["overflowed"] === true };
}

function isToolCall(part: Content): part is ToolCallPart {
  return part.type === "tool-call";
}

/** A reservation whose end nobody saw (a crash came first) is spent as a whole. */
function settleUnseen(loop: Loop, key: string): void {
  const data = loop.execution.lookup(key)?.data as { readonly model: string; readonly inputBound: number; readonly maxTokens?: number; readonly reserved?: Usd };
  const usage: Usage = { ...UNKNOWN_USAGE, inputTokens: data.inputBound, outputTokens: data.maxTokens ?? null };
  const model = loop.models.resolve(data.model);
  const cost = data.reserved ?? (model.price === null ? null : worstCase(data.inputBound, data.maxTokens ?? DEFAULT_MAX_OUTPUT_TOKENS, model.price));
  loop.execution.put(`${key}/usage`, { type: "usage", usage, cost, model: data.model, estimated: true }, "power");
}

async function settle(loop: Loop, key: string, model: Model, usage: Usage, cost: Usd | null, estimated: boolean): Promise<void> {
  const { execution, ledger, scopes } = loop;
  if (scopes.length > 0) await ledger.settle(`${execution.runId}/${key}`, cost ?? ZERO_USD);
  const event: DurableEvent = { type: "usage", usage, cost, model: model.reference, ...(estimated && { estimated: true as const }) };
  execution.put(`${key}/usage`, event, scopes.length > 0 ? "power" : undefined);
}

interface Reserved {
  readonly amount?: Usd;
  readonly maxTokens?: number;
}

/** Reserves the worst case of a call on every budget above it. Lowers its output where others' reservations stand in the way, then waits; spent money refuses. */
async function reserve(loop: Loop, key: string, model: Model, request: InferRequest, inputBound: number): Promise<Reserved> {
  const { ledger, scopes, execution } = loop;
  if (scopes.length === 0) return request.maxTokens === undefined ? {} : { maxTokens: request.maxTokens };
  if (model.price === null) throw new AgentError({ kind: "invalid-option", option: "limits.maxCost", message: `The price of ${model.reference} is unknown, so a money limit can't hold. Add it to the registry's \`prices\`, or drop limits.maxCost.` });
  let maxTokens = request.maxTokens ?? DEFAULT_MAX_OUTPUT_TOKENS;
  for (;;) {
    const amount = worstCase(inputBound, maxTokens, model.price);
    const reservation = await ledger.reserve(`${execution.runId}/${key}`, scopes, amount);
    if (reservation.type === "reserved") return { amount, maxTokens };
    const least = Math.min(LEAST_OUTPUT_TOKENS, maxTokens);
    const left = reservation.type === "wait" ? reservation.available : subtractUsd(reservation.limit, reservation.spent);
    const fitting = largestOutput(inputBound, least, maxTokens, model, left);
    if (fitting !== undefined && fitting < maxTokens) maxTokens = fitting;
    else if (reservation.type === "refused") {
      execution.put(`${key}/budget`, { type: "budget", limit: "cost", used: reservation.spent, max: reservation.limit });
      throw new RunEnding("budget-exhausted");
    } else await ledger.changed(scopes.map((scope) => scope.id), { signal: execution.signal });
    checkEnding(loop);
  }
}

/** The largest output between these bounds whose worst case fits into `left`. */
function largestOutput(inputBound: number, least: number, most: number, model: Model, left: Usd): number | undefined {
  const fits = (tokens: number): boolean => model.price !== null && compareUsd(worstCase(inputBound, tokens, model.price), left) <= 0;
  if (!fits(least)) return undefined;
  let low = least;
  let high = most;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (fits(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** More than the tokens of what was sent and received: a token is at least a byte. */
function estimatedUsage(inputBound: number, receivedBytes: number): Usage {
  return { ...UNKNOWN_USAGE, inputTokens: inputBound, outputTokens: receivedBytes };
}

const toolSizes = new WeakMap<object, number>();
function toolBytes(request: InferRequest): number {
  if (request.tools === undefined) return 0;
  let size = toolSizes.get(request.tools);
  if (size === undefined) {
    size = Buffer.byteLength(JSON.stringify(request.tools));
    toolSizes.set(request.tools, size);
  }
  return size;
}

function modelFailureOf(failure: { readonly kind: string; readonly message: string }, model: Model): ModelFailure {
  if (KNOWN_KINDS.has(failure.kind)) {
    const { retryable: _derived, ...known } = failure as typeof failure & { readonly retryable?: boolean };
    return known as ModelFailure;
  }
  return { kind: "other", message: failure.message, provider: model.provider.name, model: model.id };
}
const KNOWN_KINDS: ReadonlySet<string> = new Set<ModelFailure["kind"]>(["authentication", "billing", "rate-limit", "server-error", "invalid-request", "invalid-response", "max-output-tokens", "context-overflow", "content-blocked", "cancelled", "other"]);

async function compact(loop: Loop, key: string): Promise<void> {
  const { execution, context, agent } = loop;
  if (execution.lookup(`${key}/done`)) return;
  const before = context.conversation.length;
  await context.run({
    type: "compact",
    key,
    input: { messages: before },
    execute: async () => {
      const result = await execution.step(key, async ({ signal }) => {
        const entries = context.messages.map((message, index) => ({ message, policy: context.conversation.policyAt(index) }));
        return (await agent.options.compact?.(entries, { signal, model: runOf(loop).model, usage: runOf(loop).totals.usage })) as unknown as JsonObject;
      });
      if (!result.ok) throw new AgentError({ kind: "panic", callback: "compact", message: `compact failed: ${result.failure.message}` });
      const { messages, summary } = result.value as unknown as { readonly messages: readonly Message[]; readonly summary: string };
      execution.put(`${key}/done`, { type: "compaction", summary, messagesBefore: before, messages });
    },
  });
}

import {
  ModelError,
  ZERO_USD,
  type CallId,
  type Content,
  type InferRequest,
  type JsonValue,
  type Message,
  type ModelFailure,
  type StepFailure,
} from "@keelson/protocol";
import { compileRequest } from "../../context/compile-request.ts";
import { InferFold } from "../../providers/infer-fold.ts";
import { fitRequest } from "../../providers/fit-request.ts";
import { costOf } from "../../providers/prices.ts";
import { toolTokenBound, withHidden, type TokenTarget } from "../../providers/token-bound.ts";
import type { Model } from "../model-source.ts";
import { answerSettings, modelProblem, offeredTools } from "../output/answer-request.ts";
import { isToolCall, type Answer } from "./answer.ts";
import { callIdsOf } from "./call-id.ts";
import { messagesWithBlobs } from "./inline-blobs.ts";
import { runOf, type Loop } from "./loop.ts";
import { reserveInference, type Reserved } from "./reserve-inference.ts";
import { checkEnding } from "./run-ending.ts";
import { streamAnswer } from "./stream-answer.ts";
import { estimatedUsage, NOTHING_USED, settle } from "./settle-inference.ts";

type Outcome = { readonly answer: Answer } | { readonly failure: ModelFailure };

/** One call of the model: rules before it, compile, reserve, stream, settle, commit, rules after it. */
export async function attemptInference(loop: Loop, key: string, modelCall: number, system: string | undefined): Promise<Outcome> {
  const { execution } = loop;

  const model = loop.models.resolve(runOf(loop).model);
  // Before anything is reserved: a rule that halts here costs nothing, and what it injects is in the request.
  if (loop.context.watches("infer", "before"))
    await loop.context.run({
      type: "infer",
      phase: "before",
      key,
      input: { model: model.reference },
      inputIsFixed: true,
      execute: () => {},
    });
  const compiling = compile(loop, key, model, system);
  const compiled = compiling instanceof Promise ? await compiling : compiling;
  const fitting = fitted(loop, compiled, model);
  if ("failure" in fitting) {
    execution.note(`${key}/failed`, "inference-failed", { failure: fitting.failure as unknown as JsonValue });
    return fitting;
  }
  const { request } = fitting;
  const visible = loop.context.conversation.tokenBound + Buffer.byteLength(system ?? "") + toolTokenBound(offeredTools(loop));
  const inputBound = withHidden(visible, request, targetOf(model));
  const reservation: Reserved = loop.scopes.length === 0 ? request : await reserveInference(loop, key, model, request, inputBound);
  execution.note(key, "inference", {
    model: model.reference,
    inputBound,
    ...(reservation.maxTokens !== undefined && { maxTokens: reservation.maxTokens }),
    ...(reservation.amount && { reserved: reservation.amount }),
  });
  const final =
    reservation.maxTokens === undefined || reservation.maxTokens === request.maxTokens
      ? request
      : { ...request, maxTokens: reservation.maxTokens };
  await execution.flush();
  if (loop.attempts.runAborted) {
    await settle(loop, key, model, NOTHING_USED, ZERO_USD, false);
    checkEnding(loop);
  }

  loop.hub.nextAttempt();
  loop.debug?.(`turn ${runOf(loop).turn}, model call ${modelCall + 1}: ${model.reference} with ${request.messages.length} messages`);
  const fold = new InferFold({ maxAnswerBytes: loop.limits.maxAnswerBytes });
  const asked: Asked = { key, modelCall, model, inputBound, fold, callIdAt: callIdsOf(runOf(loop), modelCall) };
  const failure = await streamAnswer(loop, model, final, fold, key, asked.callIdAt);

  if (fold.rateLimit !== undefined) execution.put(`${key}/rate-limit`, "rate-limit", fold.rateLimit);
  if (failure !== undefined) return takeFailure(loop, asked, failure);
  const settling = settleAnswer(loop, asked);
  if (settling !== undefined) await settling;
  const committing = commitAnswer(loop, asked);
  const answer = committing instanceof Promise ? await committing : committing;
  if (loop.context.watches("infer", "after")) await showAnswer(loop, key, answer);
  return { answer };
}

/** A call of the model that was made. */
interface Asked {
  readonly key: string;
  readonly modelCall: number;
  readonly model: Model;
  readonly inputBound: number;
  readonly fold: InferFold;
  readonly callIdAt: (index: number) => CallId;
}

function settleAnswer(loop: Loop, { key, model, inputBound, fold }: Asked): Promise<void> | undefined {
  const usage = fold.end?.usage ?? estimatedUsage(inputBound, fold.bytes);
  const known = costOf(usage, model.price);
  const estimated = fold.end === undefined || (known === null && model.price !== null);
  const cost = known ?? (model.price === null ? null : costOf(estimatedUsage(inputBound, fold.bytes), model.price));
  return settle(loop, key, model, usage, cost, estimated);
}

async function takeFailure(loop: Loop, { key, model, inputBound, fold }: Asked, why: StepFailure): Promise<Outcome> {
  const { execution } = loop;
  loop.partials?.discard();
  const failure = modelFailureOf(why, model);
  if (failure.kind === "rate-limit") {
    const resetAt = failure.retryAfterMs === undefined ? null : execution.clock.now() + failure.retryAfterMs;
    execution.put(`${key}/rate-limit`, "rate-limit", { utilization: 1, resetAt, allowed: false });
  }
  const received = fold.bytes > 0;
  const usage = received ? estimatedUsage(inputBound, fold.bytes) : NOTHING_USED;
  await settle(loop, key, model, usage, received ? (model.price === null ? null : costOf(usage, model.price)) : ZERO_USD, received);
  execution.note(`${key}/failed`, "inference-failed", { failure: failure as unknown as JsonValue });
  await afterInference(loop, key, { failure: failure as unknown as JsonValue });
  return { failure };
}

/** Rules look at an answer that is paid for and in the conversation: they can halt, and nothing of it is lost. */
export async function showAnswer(loop: Loop, key: string, { message, stopReason }: Answer): Promise<void> {
  await afterInference(loop, key, { content: message.content as unknown as JsonValue, stopReason });
}

async function afterInference(loop: Loop, key: string, output: JsonValue): Promise<void> {
  await loop.context.run({ type: "infer", phase: "after", key, execute: () => output, show: (shown) => shown });
}

function compile(loop: Loop, key: string, model: Model, system: string | undefined): InferRequest | Promise<InferRequest> {
  const compileWith = (messages: readonly Message[]): InferRequest =>
    compileRequest({
      model: model.id,
      ...(system !== undefined && { system }),
      tools: offeredTools(loop),
      messages,
      settings: loop.form === undefined ? loop.settings : { ...loop.settings, ...answerSettings(loop, loop.form) },
    });
  return loop.context.run<InferRequest>({
    type: "compile",
    key: `${key}/compile`,
    execute({ conversation }) {
      const messages = messagesWithBlobs(conversation, loop.blobs);
      return messages instanceof Promise ? messages.then(compileWith) : compileWith(messages);
    },
  });
}

function commitAnswer(loop: Loop, { key, modelCall, fold, callIdAt }: Asked): Answer | Promise<Answer> {
  const { execution } = loop;
  let index = 0;
  const content = fold.content.map((part): Content => (part.type === "tool-call" ? { ...part, id: callIdAt(index++) } : part));
  const message: Message = { role: "assistant", content };
  const appending = loop.context.run({
    type: "append-response",
    key: `${key}/append`,
    execute: () => execution.put(`${key}/message`, "message", { message }),
  });
  const finish = (): Answer => {
    const stopReason = fold.end?.stopReason ?? "max-tokens";
    execution.note(`${key}/answer`, "answer", { stopReason, ...(fold.overflowed && { overflowed: true }) });
    return { modelCall, message, calls: content.filter(isToolCall), stopReason, overflowed: fold.overflowed };
  };
  return appending instanceof Promise ? appending.then(finish) : finish();
}

/** What this model can be asked; the failure says why it can't. Nothing was sent or reserved then. */
function fitted(
  { form }: Loop,
  request: InferRequest,
  model: Model,
): { readonly request: InferRequest } | { readonly failure: ModelFailure } {
  const problem = form && modelProblem(form, model);
  if (problem !== undefined)
    return { failure: { kind: "invalid-request", message: problem, provider: model.provider.name, model: model.id } };
  try {
    return { request: fitRequest(request, model.facts, { provider: model.provider.name, model: model.id }) };
  } catch (error) {
    if (!ModelError.is(error)) throw error;
    return { failure: error.failure };
  }
}

function targetOf({ provider, reference, facts }: Model): TokenTarget {
  return { wire: provider.wire, model: reference, contextWindow: facts.contextWindow ?? null };
}

function modelFailureOf(failure: { readonly kind: string; readonly message: string }, model: Model): ModelFailure {
  if (KNOWN_KINDS.has(failure.kind)) {
    const { retryable: _derived, ...known } = failure as typeof failure & { readonly retryable?: boolean };
    return known as ModelFailure;
  }
  return { kind: "other", message: failure.message, provider: model.provider.name, model: model.id };
}
const KNOWN_KINDS: ReadonlySet<string> = new Set<ModelFailure["kind"]>([
  "authentication",
  "billing",
  "rate-limit",
  "server-error",
  "invalid-request",
  "invalid-response",
  "max-output-tokens",
  "context-overflow",
  "content-blocked",
  "cancelled",
  "other",
]);

import { rateLimitProblem } from "./rate-limit-problem.ts";
import {
  ModelError,
  type InferRequest,
  type JsonValue,
  type ModelFailure,
  type StepFailure,
  type ToolCallPart,
  type RateLimit,
} from "@keelson/protocol";
import { compileRequest } from "../../context/compile-request.ts";
import { responseFailure } from "../../providers/response-failure.ts";
import { InferFold } from "../../providers/infer-fold.ts";
import { fitRequest } from "../../providers/fit-request.ts";
import { toolTokenBound, withHidden } from "../../providers/token-bound.ts";
import { originOf, type Model } from "../definition/model-source.ts";
import { outputSettings, modelProblem, offeredTools } from "../features/output/output-request.ts";
import type { ModelResponse } from "../turn/model-response.ts";
import { ResponseStream, type ModelCall } from "./response-stream.ts";
import { beginInference } from "./begin-inference.ts";
import { billAttempt, NO_BILL, type Attempted } from "./bill-attempt.ts";
import { inputEstimate } from "./context-tokens.ts";
import { callIdAt } from "../turn/call-id.ts";
import { cutResponse } from "../turn/cut-response.ts";
import { withoutUnfitTools } from "./leave-out-tools.ts";
import { messagesWithBlobs } from "./inline-blobs.ts";
import type { RecordData } from "../../session/record-data.ts";
import { runOf, type Loop } from "../turn/loop.ts";
import { modelFailureOf } from "../turn/model-failure-of.ts";
import { checkEnding } from "../turn/run-ending.ts";
import { settle } from "./settle-inference.ts";
import { partialsOf } from "../features/output/partial-outputs.ts";
import { ledgerOf } from "../features/budget/run-ledger.ts";
import { outputOf } from "../features/output/run-output.ts";

type Outcome = { readonly response: ModelResponse } | FailedAttempt;

/** Why there is no response, as the log keeps it. */
export type FailedAttempt = RecordData["inference-failed"];

/**
 * One call of the model: rules before it, compile, reserve, stream, settle, commit, rules after it.
 * @param isFirst the run has no response yet, so that an empty one is a failure
 */
export async function attemptInference(
  loop: Loop,
  key: string,
  modelCall: number,
  system: string | undefined,
  isFirst: boolean,
): Promise<Outcome> {
  const { execution } = loop;

  const model = loop.models.resolve(runOf(loop).model);
  // Before anything is reserved: a rule that halts here costs nothing, and what it injects is in the request.
  await loop.context.run({
    type: "infer",
    phase: "before",
    key,
    input: { model: model.reference },
    inputIsFixed: true,
    execute: () => {},
  });
  const compiled = await loop.context.run({ type: "compile", key: `${key}/compile`, execute: () => compile(loop, model, system) });
  const fitting = fitted(loop, compiled, model);
  if ("failure" in fitting) {
    execution.put(`${key}/failed`, "inference-failed", { failure: fitting.failure });
    return fitting;
  }
  const { request } = fitting;
  const visible = loop.context.conversation.tokenBound + Buffer.byteLength(system ?? "") + toolTokenBound(offeredTools(loop));
  const inputBound = withHidden(visible, request, model.target);
  const { reserved, final } = await beginInference(loop, key, model, request, inputBound);
  if (loop.attempts.runAborted || loop.attempts.stopped) {
    await settle(loop, key, model, NO_BILL);
    checkEnding(loop);
  }

  loop.debug?.(`turn ${runOf(loop).turn}, model call ${modelCall + 1}: ${model.reference} with ${request.messages.length} messages`);
  const { maxAnswerBytes, maxAnswerCalls } = loop.limits;
  const fold = new InferFold({ maxAnswerBytes, maxAnswerCalls });
  const asked: ModelCall = { key, modelCall, model, fold };
  const attempted: Attempted = { price: model.price, inputBound, estimateInput: () => inputEstimate(loop), reserved, fold };
  const stream = new ResponseStream(loop, asked);
  const failure = await stream.read(final);

  if (fold.rateLimit !== undefined) recordRateLimit(loop, asked, fold.rateLimit);
  if (failure !== undefined) return takeFailure(loop, asked, failure, attempted, stream.lost);
  await settle(loop, key, model, billAttempt(attempted, ledgerOf(loop).scopes));
  const unusable = unusableResponse(loop, asked, isFirst);
  if (unusable !== undefined) return recordFailure(loop, asked, unusable, { unusable: true });
  const response = responseOf(loop, asked);
  if (fold.overflowed) {
    const status = `The response was left where it passed limits.maxAnswerBytes (${maxAnswerBytes}) or limits.maxAnswerCalls (${maxAnswerCalls}).`;
    execution.emit({ type: "status", status, level: "warn" });
  }
  const { message, stopReason, overflowed } = response;
  await loop.context.run({
    type: "append-response",
    key: `${key}/append`,
    execute: () => execution.put(`${key}/message`, "message", { message }),
  });
  execution.put(`${key}/answer`, "answer", { stopReason, ...(overflowed && { overflowed: true }) });
  await showResponse(loop, key, response);
  return { response };
}

/** A response is not lost over what its provider says beside it. */
function recordRateLimit({ execution }: Loop, { key, model }: ModelCall, rateLimit: RateLimit): void {
  const problem = rateLimitProblem(rateLimit);
  if (problem === undefined) execution.put(`${key}/rate-limit`, "rate-limit", rateLimit);
  else execution.emit({ type: "status", level: "warn", status: `What ${model.reference} told of its rate limit is left out: ${problem}.` });
}

async function takeFailure(loop: Loop, asked: ModelCall, why: StepFailure, attempted: Attempted, lost: boolean): Promise<Outcome> {
  const { execution } = loop;
  const { key, model } = asked;
  const failure = modelFailureOf(why, model);
  if (failure.kind === "rate-limit") {
    const resetAt = failure.retryAfterMs === undefined ? null : execution.clock.now() + failure.retryAfterMs;
    execution.put(`${key}/rate-limit`, "rate-limit", { utilization: 1, resetAt, allowed: false });
  }
  await settle(loop, key, model, billAttempt(attempted, ledgerOf(loop).scopes, failure));
  return recordFailure(loop, asked, failure, lost ? { lost } : {});
}

/** A function that reads the output may find it in a response without a word, so that only its verdict counts then. */
function unusableResponse(loop: Loop, { fold, model }: ModelCall, isFirst: boolean): ModelFailure | undefined {
  if (fold.overflowed || fold.end === undefined) return undefined;
  const mayBeEmpty = !isFirst || outputOf(loop).form?.extract !== undefined;
  return responseFailure({ ...fold.end, content: fold.content }, originOf(model), !mayBeEmpty);
}

/** Records an attempt that gave no response to go on from. Its text is void for subscribers, and kept only if the run ends with it. */
async function recordFailure(
  loop: Loop,
  { key, fold }: ModelCall,
  failure: ModelFailure,
  marks: Pick<FailedAttempt, "lost" | "unusable">,
): Promise<FailedAttempt> {
  partialsOf(loop)?.discard();
  loop.cut = cutResponse(key, fold.content);
  const failed: FailedAttempt = { failure, ...marks };
  loop.execution.put(`${key}/failed`, "inference-failed", failed);
  await afterInference(loop, key, { failure });
  return failed;
}

/** Rules look at a response that is paid for and in the conversation: they can halt, and nothing of it is lost. */
export async function showResponse(loop: Loop, key: string, { message, stopReason }: ModelResponse): Promise<void> {
  await afterInference(loop, key, { content: message.content, stopReason });
}

async function afterInference(loop: Loop, key: string, output: JsonValue): Promise<void> {
  await loop.context.run({ type: "infer", phase: "after", key, execute: () => output, show: (shown) => shown });
}

async function compile(loop: Loop, model: Model, system: string | undefined): Promise<InferRequest> {
  const { messages, namesBlobs } = loop.context.conversation;
  return compileRequest({
    model: model.id,
    ...(system !== undefined && { system }),
    tools: offeredTools(loop),
    settings: { ...loop.settings, ...outputSettings(loop) },
    messages: namesBlobs ? await messagesWithBlobs(messages, loop.blobs) : messages,
  });
}

/** The response as it was folded, with ids of this run for its calls. */
function responseOf(loop: Loop, { modelCall, fold }: ModelCall): ModelResponse {
  const { turn } = runOf(loop);
  const calls: ToolCallPart[] = [];
  const content = fold.content.map((part) => {
    if (part.type !== "tool-call") return part;
    const call = { ...part, id: callIdAt(loop.callPrefix, turn, modelCall, calls.length) };
    calls.push(call);
    return call;
  });
  return {
    modelCall,
    message: { role: "assistant", content },
    calls,
    stopReason: fold.end?.stopReason ?? "max-tokens",
    overflowed: fold.overflowed,
  };
}

/** What this model can be asked; the failure says why it can't. Nothing was sent or reserved then. */
function fitted(loop: Loop, request: InferRequest, model: Model): { readonly request: InferRequest } | { readonly failure: ModelFailure } {
  const { form } = outputOf(loop);
  const problem = form && modelProblem(form, model);
  if (problem !== undefined)
    return { failure: { kind: "invalid-request", message: problem, provider: model.provider.name, model: model.id } };
  try {
    return {
      request: fitRequest(withoutUnfitTools(loop, model, request), model.facts, { provider: model.provider.name, model: model.id }),
    };
  } catch (error) {
    if (!ModelError.is(error)) throw error;
    return { failure: error.failure };
  }
}

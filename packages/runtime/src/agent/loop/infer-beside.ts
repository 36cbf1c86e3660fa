import { ModelError, type InferRequest } from "@keelson/protocol";
import { conversationTokens } from "../../context/room/conversation-tokens.ts";
import { approximateTokens } from "../../providers/approximate-tokens.ts";
import { fitRequest } from "../../providers/fit-request.ts";
import { InferFold } from "../../providers/infer-fold.ts";
import { responseFailure } from "../../providers/response-failure.ts";
import { inputTokenBound } from "../../providers/token-bound.ts";
import { ledgerOf } from "../features/budget/run-ledger.ts";
import { originOf, type Model } from "../definition/model-source.ts";
import { runOf, type Loop } from "../turn/loop.ts";
import { modelFailureOf } from "../turn/model-failure-of.ts";
import { checkEnding } from "../turn/run-ending.ts";
import { beginInference } from "./begin-inference.ts";
import { billAttempt, NO_BILL, type Bill, type InputEstimate } from "./bill-attempt.ts";
import { ResponseStream } from "./response-stream.ts";
import { settle, settleUnseen, type InferencePurpose } from "./settle-inference.ts";

/** What came of asking the model something beside the conversation. */
export type Beside =
  | { readonly type: "response"; readonly fold: InferFold; readonly model: Model; readonly bill: Bill }
  | { readonly type: "nothing"; readonly why: string };

/**
 * Asks the run's model something beside the conversation, of which watchers see no text. It is reserved, paid and counted as any
 * inference. Once: one that failed, or whose end nobody saw, is not asked again.
 */
export async function inferBeside(
  loop: Loop,
  key: string,
  question: Omit<InferRequest, "model">,
  purpose: InferencePurpose,
): Promise<Beside> {
  const { execution, limits } = loop;
  if (execution.has(key)) {
    await settleUnseen(loop, key);
    return nothing(
      "the model was asked this before, and nobody saw the end of it: what that may have cost is paid, and it is not asked again",
    );
  }
  const { modelCalls } = runOf(loop).totals;
  if (modelCalls >= limits.maxModelCalls)
    return nothing(`limits.maxModelCalls is ${limits.maxModelCalls}, and the model was asked ${modelCalls} times`);
  const model = loop.models.resolve(runOf(loop).model);
  let request: InferRequest;
  try {
    const { maxTokens = Number.POSITIVE_INFINITY } = question;
    const { maxOutputTokens = Number.POSITIVE_INFINITY } = model.facts;
    const most = Math.min(maxTokens, maxOutputTokens);
    request = fitRequest({ ...question, ...(most < maxTokens && { maxTokens: most }), model: model.id }, model.facts, {
      provider: model.provider.name,
      model: model.id,
    });
  } catch (error) {
    if (!ModelError.is(error)) throw error;
    return nothing(error.message);
  }
  const inputBound = inputTokenBound(request, model.target);
  const { reserved, final } = await beginInference(loop, key, model, request, inputBound);
  if (loop.attempts.runAborted || loop.attempts.stopped) {
    await settle(loop, key, model, NO_BILL, purpose);
    checkEnding(loop);
  }
  const fold = new InferFold({ maxAnswerBytes: limits.maxAnswerBytes });
  const thrown = await new ResponseStream(loop, { key, modelCall: 0, model, fold, hidden: true }).read(final);
  const failure = thrown && modelFailureOf(thrown, model);
  const estimateInput = (): InputEstimate => ({
    tokens: conversationTokens(request.messages) + approximateTokens(request.system ?? ""),
    cached: 0,
  });
  const bill = billAttempt({ price: model.price, inputBound, estimateInput, reserved, fold }, ledgerOf(loop).scopes, failure);
  await settle(loop, key, model, bill, purpose);
  checkEnding(loop);
  if (failure !== undefined) return nothing(failure.message);
  const unusable = fold.end && responseFailure({ ...fold.end, content: fold.content }, originOf(model), false);
  if (unusable !== undefined) return nothing(unusable.message);
  if (fold.overflowed) return nothing(`the response is longer than limits.maxAnswerBytes, ${limits.maxAnswerBytes} bytes`);
  return { type: "response", fold, model, bill };
}

function nothing(why: string): Beside {
  return { type: "nothing", why };
}

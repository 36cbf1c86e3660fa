import { ModelError, type InferRequest } from "@keelson/protocol";
import { fitRequest } from "../../providers/fit-request.ts";
import { InferFold } from "../../providers/infer-fold.ts";
import { inputTokenBound } from "../../providers/token-bound.ts";
import { ResponseStream } from "./response-stream.ts";
import { beginInference } from "./begin-inference.ts";
import { billAttempt, NO_BILL } from "./bill-attempt.ts";
import { runOf, type Loop } from "../turn/loop.ts";
import { modelFailureOf } from "../turn/model-failure-of.ts";
import { checkEnding } from "../turn/run-ending.ts";
import { settle, settleUnseen } from "./settle-inference.ts";
import { ledgerOf } from "../features/budget/run-ledger.ts";

/**
 * Asks the run's model something beside the conversation, of which watchers see no text. It is reserved, paid and counted as any
 * inference. Once: one that failed, or whose end nobody saw, is not asked again.
 * @returns what it said; nothing where it gave no whole response in words
 */
export async function inferText(loop: Loop, key: string, question: Omit<InferRequest, "model">): Promise<string | undefined> {
  const { execution, limits } = loop;
  if (execution.has(key)) {
    await settleUnseen(loop, key);
    return undefined;
  }
  if (runOf(loop).totals.modelCalls >= limits.maxModelCalls) return undefined;
  const model = loop.models.resolve(runOf(loop).model);
  let request: InferRequest;
  try {
    request = fitRequest({ ...question, model: model.id }, model.facts, { provider: model.provider.name, model: model.id });
  } catch (error) {
    if (!ModelError.is(error)) throw error;
    return undefined;
  }
  const inputBound = inputTokenBound(request, model.target);
  const { reserved, final } = await beginInference(loop, key, model, request, inputBound);
  if (loop.attempts.runAborted || loop.attempts.stopped) {
    await settle(loop, key, model, NO_BILL);
    checkEnding(loop);
  }
  const fold = new InferFold({ maxAnswerBytes: limits.maxAnswerBytes });
  const failure = await new ResponseStream(loop, { key, modelCall: 0, model, fold, hidden: true }).read(final);
  const bill = billAttempt(
    { price: model.price, inputBound, reserved, fold },
    ledgerOf(loop).scopes,
    failure && modelFailureOf(failure, model),
  );
  await settle(loop, key, model, bill);
  checkEnding(loop);
  const text = fold.text.trim();
  return failure !== undefined || fold.overflowed || text === "" ? undefined : text;
}

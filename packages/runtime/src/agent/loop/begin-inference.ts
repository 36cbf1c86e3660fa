import type { InferRequest } from "@keelson/protocol";
import type { Model } from "../definition/model-source.ts";
import type { Loop } from "../turn/loop.ts";
import { reserveInference, type Reserved } from "./reserve-inference.ts";
import { ledgerOf } from "../features/budget/run-ledger.ts";

/** A model call that may be made now. */
export interface BegunCall {
  readonly reserved: Reserved;
  /** Within what was reserved. */
  readonly final: InferRequest;
}

/** Reserves a model call and has the log say that it begins: from then on it is paid for, whatever becomes of the process. */
export async function beginInference(loop: Loop, key: string, model: Model, request: InferRequest, inputBound: number): Promise<BegunCall> {
  const { execution } = loop;
  const reserved: Reserved =
    ledgerOf(loop).scopes.length === 0 ? { maxTokens: request.maxTokens } : await reserveInference(loop, key, model, request, inputBound);
  const { maxTokens, outputTokens, amount } = reserved;
  execution.put(key, "inference", {
    model: model.reference,
    inputBound,
    ...(maxTokens !== undefined && { maxTokens }),
    ...(outputTokens !== undefined && outputTokens !== maxTokens && { outputTokens }),
    ...(amount && { reserved: amount }),
  });
  await execution.flush();
  return { reserved, final: maxTokens === undefined || maxTokens === request.maxTokens ? request : { ...request, maxTokens } };
}

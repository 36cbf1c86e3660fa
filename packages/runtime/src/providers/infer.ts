import { type Content, type InferOptions, type InferRequest, type InferResponse, ModelError, type Provider } from "@keelson/protocol";
import { DEFAULT_MAX_ANSWER_BYTES, DEFAULT_MAX_ANSWER_CALLS, type FoldOptions, foldInferEvents } from "./infer-fold.ts";
import { fitRequest } from "./fit-request.ts";
import { modelFacts, type ModelFactTable } from "./model-facts.ts";
import { costOf, priceOf } from "./prices.ts";
import type { PriceTable } from "./model-price.ts";
import { checkOptionNames } from "../json/option-names.ts";

export interface InferCallOptions extends InferOptions, FoldOptions {
  /** Go before the built-in price table. */
  readonly prices?: PriceTable | undefined;
  /** Go before what is known of models: what they can't do is refused before anything is sent. */
  readonly facts?: ModelFactTable | undefined;
}

/**
 * One model call, awaited as a whole: the same stream as everywhere, folded. Rejects with `ModelError`; a response over
 * `maxAnswerBytes` is one of kind `max-output-tokens`. Never retries, but for `resendLost`.
 */
export async function infer(provider: Provider, request: InferRequest, options: InferCallOptions = {}): Promise<InferResponse> {
  checkOptionNames("infer", options, {
    prices: true,
    facts: true,
    signal: true,
    idempotencyKey: true,
    conversation: true,
    resendLost: true,
    maxAnswerBytes: true,
    maxAnswerCalls: true,
  });
  const { prices, facts, maxAnswerBytes = DEFAULT_MAX_ANSWER_BYTES, maxAnswerCalls = DEFAULT_MAX_ANSWER_CALLS, ...inferOptions } = options;
  const asked = { provider: provider.name, model: request.model };
  const fitting = fitRequest(request, modelFacts(`${provider.name}/${request.model}`, facts), asked);
  const [unfit] = (request.tools && provider.unfitTools?.(request.tools)) ?? [];
  if (unfit !== undefined) {
    const message = `the tool "${unfit.tool}" can't be offered to ${provider.name}: ${unfit.problem}; change its schema, or leave it out`;
    throw new ModelError({ kind: "invalid-request", message, ...asked });
  }
  const fold = foldInferEvents({ maxAnswerBytes, maxAnswerCalls });
  for await (const event of provider.stream(fitting, inferOptions)) {
    fold.push(event);
    if (fold.overflowed) {
      const message = `the response of ${request.model} is longer than ${maxAnswerBytes} bytes, or has more than ${maxAnswerCalls} calls: ask for less, or raise maxAnswerBytes or maxAnswerCalls`;
      throw new ModelError({ kind: "max-output-tokens", message, provider: provider.name, model: request.model });
    }
  }
  const end = fold.end;
  const price =
    end === undefined ? null : (priceOf(`${provider.name}/${end.model}`, prices) ?? priceOf(`${provider.name}/${request.model}`, prices));
  const response = end && fold.response(costOf(end.usage, price));
  if (response === undefined) {
    throw new ModelError({
      kind: "server-error",
      message: `the stream of ${provider.name} ended before its end event`,
      provider: provider.name,
      model: request.model,
    });
  }
  return response;
}

/** The response's text: all text parts, joined without separator. Thinking, refusals and results of server-run tools are not text. */
export function textOf(response: { readonly content: readonly Content[] }): string {
  let text = "";
  for (const part of response.content) if (part.type === "text") text += part.text;
  return text;
}

import { type InferEvent, type InferOptions, type InferRequest, ModelError, type Provider, type RequestProgress } from "@keelson/protocol";
import { AiSdkDecoder } from "./ai-sdk/ai-sdk-decoder.ts";
import { aiSdkFailure } from "./ai-sdk/ai-sdk-failure.ts";
import { type AiSdkModel, type AiSdkReader, checkAiSdkModel, versionOf } from "./ai-sdk/ai-sdk-model.ts";
import { encodeAiSdkPrompt } from "./ai-sdk/ai-sdk-prompt.ts";
import { fitMessage } from "./fitting/fit-message.ts";
import { fitToWire } from "./fitting/fit-to-wire.ts";
import { fitTools } from "./fitting/fit-tools.ts";
import { AI_SDK_RULES } from "./fitting/rules/ai-sdk.ts";
import { AI_SDK_OUTPUT, outputBoundOf } from "./output-bound.ts";
import { requireMessages } from "./require-messages.ts";
import { readRateLimit } from "./rate-limit.ts";
import { thinkingEffort } from "./thinking-effort.ts";
import { fieldsOf } from "./wire-decoder.ts";
import { checkOptionNames } from "../json/option-names.ts";
import { checkMethodOptions } from "../json/check-method-options.ts";
import { PROVIDER_METHODS } from "../json/interface-methods.ts";

export type { Provider } from "@keelson/protocol";

export type { AiSdkModel, AiSdkReader, AiSdkStream } from "./ai-sdk/ai-sdk-model.ts";

export const AI_SDK_WIRE = "ai-sdk";

export interface AiSdkOptions {
  /** What failures and the registry call this provider. Default: the model's own `provider`. */
  readonly name?: string | undefined;
  /** Sent with every request, where the model sends requests. */
  readonly headers?: { readonly [name: string]: string } | undefined;
  /** `providerOptions` of every call; those in the request's `extra` win. */
  readonly providerOptions?: { readonly [provider: string]: { readonly [option: string]: unknown } } | undefined;
}

/**
 * Any model of the AI SDK: `createAiSdkProvider(groq("llama-4"))`, or a whole provider, `createAiSdkProvider(groq)`, which is then
 * asked for the model that a request names. `extra` of a request is merged into the call's options (`topK`, `providerOptions`).
 */
export function createAiSdkProvider(model: AiSdkModel | ((modelId: string) => AiSdkModel), options: AiSdkOptions = {}): Provider {
  checkOptionNames("createAiSdkProvider", options, { name: true, headers: true, providerOptions: true });
  if (typeof model !== "function") checkAiSdkModel(model, options.name);
  const name = options.name ?? (typeof model === "function" ? "ai-sdk" : model.provider);
  const provider: Provider = {
    name,
    wire: AI_SDK_WIRE,
    outputBound: (request) => aiSdkOutputBound(request, options),
    unfitTools: (tools) => fitTools(tools, AI_SDK_RULES).unfit,
    stream(given, inferOptions = {}) {
      const { request, restore } = fitToWire(given, AI_SDK_RULES, AI_SDK_WIRE);
      return restore(streamAiSdk(model, name, request, inferOptions, options));
    },
  };
  return checkMethodOptions("provider", provider, PROVIDER_METHODS);
}

/** Adapters put what a model may think on top of the limit (Anthropic's does). */
function aiSdkOutputBound(request: InferRequest, { providerOptions }: AiSdkOptions): number | null {
  // How much the adapter of a vendor adds for an effort is its own affair.
  if (request.effort !== undefined || (request.thinking !== undefined && request.thinking.type !== "disabled")) return null;
  const bound = outputBoundOf(request, request.model, AI_SDK_OUTPUT);
  return bound === null ? null : bound + thinkingBudget(providerOptions) + thinkingBudget(request.extra?.["providerOptions"]);
}

function thinkingBudget(options: unknown): number {
  let most = 0;
  for (const [name, value] of Object.entries(fieldsOf(options) ?? {}))
    most = Math.max(most, typeof value === "number" && /budget/i.test(name) ? value : thinkingBudget(value));
  return most;
}

async function* streamAiSdk(
  given: AiSdkModel | ((modelId: string) => AiSdkModel),
  name: string,
  request: InferRequest,
  { signal }: InferOptions,
  options: AiSdkOptions,
): AsyncGenerator<InferEvent> {
  const context = { provider: name, model: request.model };
  // Ours, so that the connection closes when the consumer leaves.
  const leaving = new AbortController();
  const abort = (): void => leaving.abort(signal?.reason);
  signal?.addEventListener("abort", abort, { once: true });
  let reader: AiSdkReader | undefined;
  let sent = false;
  let begun = false;
  try {
    if (signal?.aborted === true) throw new ModelError({ kind: "cancelled", message: "the model call was cancelled", ...context });
    requireMessages(request, ["prompt"], context);
    const model: unknown = typeof given === "function" ? given(request.model) : given;
    checkAiSdkModel(model, name);
    const at = { wire: AI_SDK_WIRE, provider: name, model: model.modelId };
    const owner = `${model.provider}/${model.modelId}`;
    const asked = model.doStream(callOptions(model, owner, name, request, leaving.signal, options));
    sent = true;
    const response = await untilAborted(Promise.resolve(asked), leaving.signal);
    begun = true;
    reader = response.stream.getReader();
    const queue: InferEvent[] = [];
    const decoder = new AiSdkDecoder(queue, at, owner, signal);
    yield* rateLimits(response.response?.headers);
    while (!decoder.complete) {
      const { done, value } = await untilAborted(reader.read(), leaving.signal);
      if (done) decoder.finish();
      else decoder.part(value);
      // What came before a failure was yielded already.
      yield* queue.splice(0);
    }
  } catch (error) {
    const failure = aiSdkFailure(error, context, signal);
    throw begun ? withProgress(failure, "begun") : sent ? failure : withProgress(failure, "unsent");
  } finally {
    signal?.removeEventListener("abort", abort);
    // A stream that cannot be cancelled any more is over.
    void reader?.cancel().catch(() => undefined);
    leaving.abort();
  }
}

function withProgress(error: ModelError, progress: RequestProgress): ModelError {
  return new ModelError({ ...error.failure, progress }, { cause: error.cause });
}

/** Some models ignore their signal. */
function untilAborted<T>(reading: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const abort = (): void => reject(new Error("the model call was cancelled"));
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    reading.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}

function* rateLimits(headers: { readonly [name: string]: string | undefined } | undefined): Generator<InferEvent> {
  if (headers === undefined) return;
  for (const prefix of ["anthropic-ratelimit", "x-ratelimit"] as const) {
    const rateLimit = readRateLimit({ header: (name) => headers[name] }, prefix, Date.now());
    if (rateLimit !== undefined) yield { type: "rate-limit", rateLimit };
  }
}

function callOptions(
  model: AiSdkModel,
  owner: string,
  provider: string,
  request: InferRequest,
  abortSignal: AbortSignal,
  options: AiSdkOptions,
): { [option: string]: unknown } {
  const version = versionOf(model);
  const { providerOptions: extraOptions, ...extra } = request.extra ?? {};
  const tools = request.tools ?? [];
  const providerOptions = { ...options.providerOptions, ...fieldsOf(extraOptions) };
  return {
    prompt: encodeAiSdkPrompt(
      request.system,
      request.messages.map((message) => fitMessage(message, AI_SDK_RULES)),
      { wire: AI_SDK_WIRE, provider, model: owner, version },
    ),
    abortSignal,
    includeRawChunks: false,
    ...(request.maxTokens !== undefined && { maxOutputTokens: request.maxTokens }),
    ...(request.temperature !== undefined && { temperature: request.temperature }),
    ...(request.topP !== undefined && { topP: request.topP }),
    ...(request.stopSequences !== undefined && request.stopSequences.length > 0 && { stopSequences: request.stopSequences }),
    ...(tools.length > 0 && { tools: tools.map((tool) => ({ type: "function", ...tool })) }),
    // A choice among no tools is an error.
    ...(request.toolChoice !== undefined &&
      (tools.length > 0 || extra["tools"] !== undefined) && { toolChoice: toolChoice(request.toolChoice) }),
    ...(request.output !== undefined && { responseFormat: { type: "json", schema: request.output.schema, name: request.output.name } }),
    ...(version === 4 && reasoningOf(request)),
    ...(options.headers !== undefined && { headers: options.headers }),
    ...(Object.keys(providerOptions).length > 0 && { providerOptions }),
    ...extra,
  };
}

function toolChoice(choice: NonNullable<InferRequest["toolChoice"]>): { [field: string]: unknown } {
  return typeof choice === "object" ? { type: "tool", toolName: choice.name } : { type: choice };
}

/** Only version 4 has one word for all vendors; budgets are each vendor's own, in `providerOptions`. */
function reasoningOf({ effort: asked, thinking }: InferRequest): { readonly reasoning?: string } {
  if (thinking?.type === "disabled") return { reasoning: "none" };
  const effort = thinkingEffort({ effort: asked, thinking });
  if (effort !== undefined) return { reasoning: effort === "max" ? "xhigh" : effort };
  return {};
}

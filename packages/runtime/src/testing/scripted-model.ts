import {
  ModelError,
  type InferEvent,
  type InferOptions,
  type InferRequest,
  type JsonValue,
  type ModelFailure,
  type Provider,
  type StopReason,
  type Usage,
} from "@keelson/protocol";
import type { ModelPrice } from "../providers/model-price.ts";
import { checkOptionNames } from "../json/option-names.ts";
import { checkPrice } from "../providers/check-price.ts";
import { checkMethodOptions } from "../json/check-method-options.ts";
import { PROVIDER_METHODS } from "../json/interface-methods.ts";
import { POSITIVE_OPTION } from "../json/option-rules.ts";

/** What the model responds at one call. */
export interface ScriptedResponse {
  readonly text?: string | undefined;
  readonly thinking?: string | undefined;
  readonly toolCalls?:
    | readonly {
        readonly name: string;
        readonly input?: JsonValue;
        /** Raw text instead of `input`, which may be no JSON. */ readonly inputText?: string;
        readonly id?: string;
      }[]
    | undefined;
  readonly usage?: Partial<Usage> | undefined;
  readonly stopReason?: StopReason | undefined;
  /** Fails with this, after the text if there is any. Without it, it is the refusal of a vendor, which costs nothing, unless its `progress` says otherwise. */
  readonly error?: (Omit<ModelFailure, "message"> & { readonly message?: string }) | undefined;
  /** Waits for this before responding; can be cancelled meanwhile. */
  readonly wait?: Promise<unknown> | (() => Promise<unknown>) | undefined;
  /** Text and arguments are sent in pieces of so many characters. Default: whole. */
  readonly chunkSize?: number | undefined;
}

export type ScriptedTurn =
  | string
  | ScriptedResponse
  | ((request: InferRequest, call: number) => string | ScriptedResponse | Promise<string | ScriptedResponse>);

export interface ScriptedModelOptions {
  /** Default `scripted/model`. */
  readonly name?: string | undefined;
  /** The wire it claims to speak. Default `scripted`. */
  readonly wire?: string | undefined;
  readonly price?: ModelPrice | undefined;
}

/** A model that responds by script, and remembers what it was asked. Serves as an agent's `model` and as a provider. */
export interface ScriptedModel extends Provider {
  readonly requests: readonly InferRequest[];
  readonly price?: ModelPrice;
}

/**
 * One turn a call, in order. When the script is exhausted, a call fails and says which one it was.
 *
 * ```ts
 * const model = scriptedModel([{ toolCalls: [{ name: "add", input: { a: 1, b: 2 } }] }, "It is 3."]);
 * ```
 */
export function scriptedModel(turns: readonly ScriptedTurn[], options: ScriptedModelOptions = {}): ScriptedModel {
  checkOptionNames("scriptedModel", options, { name: true, wire: true, price: true });
  const { name = "scripted/model", wire = "scripted", price } = options;
  if (price !== undefined) checkPrice("price", price);
  for (const turn of turns) if (typeof turn !== "function") checkTurn(turn);
  const requests: InferRequest[] = [];
  const model: ScriptedModel = {
    name,
    wire,
    requests,
    ...(price && { price }),
    async *stream(request, inferOptions): AsyncGenerator<InferEvent> {
      const call = requests.length;
      // Messages grow in place while the conversation goes on: what was asked is what stood there then.
      requests.push({ ...request, messages: [...request.messages] });
      const turn = turns[call];
      if (turn === undefined) {
        throw new ModelError({
          kind: "invalid-request",
          progress: "unsent",
          provider: name,
          model: request.model,
          message: `The script of "${name}" has ${turns.length} turns, and this is call ${call + 1}. The last message was ${JSON.stringify(request.messages.at(-1)?.content ?? null).slice(0, 300)}.`,
        });
      }
      const response = typeof turn === "function" ? await turn(request, call) : turn;
      checkTurn(response);
      yield* play(typeof response === "string" ? { text: response } : response, request, inferOptions);
    },
  };
  return checkMethodOptions("model", model, PROVIDER_METHODS);
}

const CALL = { name: true, input: true, inputText: true, id: true };

function checkTurn(turn: string | ScriptedResponse): void {
  if (typeof turn === "string") return;
  checkOptionNames("A turn of scriptedModel", turn, {
    text: true,
    thinking: true,
    toolCalls: true,
    usage: true,
    stopReason: true,
    error: true,
    wait: true,
    chunkSize: POSITIVE_OPTION,
  });
  for (const call of turn.toolCalls ?? []) checkOptionNames("A call of scriptedModel", call, CALL);
}

async function* play(response: ScriptedResponse, request: InferRequest, options: InferOptions | undefined): AsyncGenerator<InferEvent> {
  const { text, thinking, toolCalls = [], chunkSize = Number.POSITIVE_INFINITY } = response;
  if (response.wait) await settledOrAborted(typeof response.wait === "function" ? response.wait() : response.wait, options?.signal);
  throwIfCancelled(options?.signal);
  if (thinking !== undefined) {
    yield { type: "thinking-start" };
    yield { type: "thinking-delta", text: thinking };
    yield { type: "thinking-end" };
  }
  if (text !== undefined) {
    yield { type: "text-start" };
    for (let at = 0; at < text.length; at += chunkSize) {
      throwIfCancelled(options?.signal);
      yield { type: "text-delta", text: text.slice(at, Math.min(text.length, at + chunkSize)) };
    }
    yield { type: "text-end" };
  }
  if (response.error) {
    const progress = text === undefined && thinking === undefined ? "refused" : "begun";
    throw new ModelError({ message: `scripted ${response.error.kind}`, progress, ...response.error } as ModelFailure);
  }
  for (const [index, call] of toolCalls.entries()) {
    yield { type: "tool-call-start", index, id: call.id ?? `call_${index}`, name: call.name };
    const given = call.inputText ?? JSON.stringify(call.input ?? {});
    for (let at = 0; at < given.length; at += chunkSize) {
      throwIfCancelled(options?.signal);
      yield { type: "tool-call-delta", index, text: given.slice(at, Math.min(given.length, at + chunkSize)) };
    }
    yield { type: "tool-call-end", index };
  }
  yield {
    type: "end",
    stopReason: response.stopReason ?? (toolCalls.length > 0 ? "tool-use" : "end-turn"),
    rawStopReason: null,
    usage: { inputTokens: 10, outputTokens: 5, cacheReadTokens: null, cacheCreationTokens: null, reasoningTokens: null, ...response.usage },
    model: request.model,
  };
}

function throwIfCancelled(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new ModelError({ kind: "cancelled", message: "the call was cancelled" });
}

async function settledOrAborted(wait: Promise<unknown>, signal: AbortSignal | undefined): Promise<void> {
  if (signal === undefined) return void (await wait);
  await new Promise<void>((resolve, reject) => {
    const abort = (): void => resolve();
    signal.addEventListener("abort", abort, { once: true });
    if (signal.aborted) abort();
    wait.then(() => resolve(), reject).finally(() => signal.removeEventListener("abort", abort));
  });
}

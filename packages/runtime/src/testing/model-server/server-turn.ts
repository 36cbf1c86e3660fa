import type { JsonObject, JsonValue } from "@keelson/protocol";
import { parseJson, restoreIntegers } from "../../json/index.ts";
import type { ValidatedWire } from "../request-validation/validate-request.ts";

export interface ServerToolCall {
  readonly name: string;
  readonly input?: JsonValue;
  /** The raw arguments instead of `input`: they need not be JSON. Wires whose calls are objects then tell what their vendors tell. */
  readonly inputText?: string;
  /** Default: derived from the number of the request; older Gemini models give none. */
  readonly id?: string;
}

/** How the server responds to one request. */
export interface ServerTurn {
  /** An array is streamed piece by piece; a string in words. */
  readonly text?: string | readonly string[];
  /** Signed or encrypted where the wire has it, so that the server knows it again. */
  readonly thinking?: string;
  readonly refusal?: string;
  readonly toolCalls?: readonly ServerToolCall[];
  /** Default: counts that follow from the lengths. Input includes what the cache gave, output what was thought. `null`: none is told. */
  readonly usage?: {
    readonly inputTokens?: number;
    readonly outputTokens?: number;
    readonly cacheReadTokens?: number;
    readonly cacheCreationTokens?: number;
  } | null;
  /** The vendor's word; default: the one that fits. */
  readonly stopReason?: string;
  /** An HTTP error instead of a response; with 200 the error comes in a response that is otherwise good. */
  readonly status?: number;
  readonly error?: ServerError;
  readonly headers?: { readonly [name: string]: string };
  readonly misbehave?: Misbehaviour;
}

export interface ServerError {
  readonly message: string;
  readonly type?: string;
  readonly code?: string;
}

/** Ways to be a bad server. They can be combined. */
export interface Misbehaviour {
  /** The connection is reset before any byte of a response. */
  readonly resetBeforeHeaders?: boolean;
  /** The connection is reset after so many bytes of the body. */
  readonly resetAfterBytes?: number;
  /** The stream ends without its last event: `[DONE]`, `message_stop`, `response.completed`, the line that is `done`. */
  readonly omitEnd?: boolean;
  /** The stream ends without a reason, and without its last event. */
  readonly omitFinish?: boolean;
  /** The body is sent in chunks of so many bytes, which cut characters and events anywhere. */
  readonly chunkBytes?: number;
  readonly lineEnd?: "\n" | "\r\n" | "\r";
  /** Comment lines between the events; blank ones where a wire has none. */
  readonly comments?: boolean;
  /** Events between the events that say nothing. */
  readonly pings?: boolean;
  /** No `event:` lines and no space after `data:`. */
  readonly bare?: boolean;
  /** An error event after half of the events. */
  readonly errorInStream?: ServerError;
  /** Half of the events are followed by this line of data. */
  readonly garbage?: string;
  /** Nothing more comes, and the connection stays open. */
  readonly stall?: "before-headers" | "before-body" | "in-body";
  /** So many bytes of text are streamed instead of `text`. */
  readonly hugeTextBytes?: number;
  /** One JSON object although a stream was asked for. */
  readonly wholeJson?: boolean;
  /** The whole body, as it is. */
  readonly body?: string;
  readonly contentType?: string;
}

export interface ServerRequest {
  /** Counts from 0. */
  readonly index: number;
  readonly wire: ValidatedWire;
  readonly path: string;
  /** As in the body, or where the path names it. */
  readonly model: string;
  readonly headers: { readonly [name: string]: string };
  readonly body: JsonObject;
  readonly streamed: boolean;
}

/** One turn in a wire's own words. */
export interface EncodedTurn {
  /** In order; the finish and the end are told apart so that they can be left out. */
  readonly events: readonly ServerEvent[];
  readonly whole: JsonObject;
}

export interface ServerEvent {
  /** "" where the wire names no events. */
  readonly name: string;
  readonly data: string;
  /** `text` shows a piece of text. */
  readonly role?: "text" | "finish" | "end";
}

/** What the server knows of a wire. */
export interface ServerWire {
  encode(turn: ServerTurn, request: ServerRequest): EncodedTurn;
  /** The body of a response that is an error. */
  error(error: ServerError, status: number, requestId: string): JsonObject;
  /** The event in a stream that is an error. */
  streamError(error: ServerError, requestId: string): ServerEvent;
  /** An event that says nothing. */
  readonly ping: ServerEvent;
}

export interface TurnCounts {
  readonly inputTokens: number;
  /** Reasoning included. */
  readonly outputTokens: number;
  readonly reasoningTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheCreationTokens: number;
}

export function countsOf(turn: ServerTurn, request: ServerRequest): TurnCounts {
  const thought = turn.thinking?.length ?? 0;
  const said = pieces(turn).join("").length + thought + (turn.toolCalls ?? []).reduce((sum, call) => sum + argumentsOf(call).length, 0);
  const outputTokens = turn.usage?.outputTokens ?? Math.ceil(said / 4);
  return {
    inputTokens: turn.usage?.inputTokens ?? Math.ceil(JSON.stringify(request.body).length / 4),
    outputTokens,
    reasoningTokens: Math.min(outputTokens, Math.ceil(thought / 4)),
    cacheReadTokens: turn.usage?.cacheReadTokens ?? 0,
    cacheCreationTokens: turn.usage?.cacheCreationTokens ?? 0,
  };
}

export function pieces(turn: ServerTurn): readonly string[] {
  if (typeof turn.text !== "string") return turn.text ?? [];
  return turn.text === "" ? [] : (turn.text.match(/\s*\S+\s*$|\s*\S+|\s+$/g) ?? []);
}

export function argumentsOf(call: ServerToolCall): string {
  return call.inputText ?? JSON.stringify(call.input ?? {});
}

/** The arguments of wires whose calls are objects, with the digits of the text; `undefined` for a text that is none. */
export function argumentObject(call: ServerToolCall): JsonObject | undefined {
  try {
    const value: unknown = restoreIntegers(parseJson(argumentsOf(call)));
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}

/** Cut as vendors cut arguments: anywhere. */
export function argumentPieces(call: ServerToolCall): readonly string[] {
  const text = argumentsOf(call);
  const size = Math.max(1, Math.ceil(text.length / 3));
  return Array.from({ length: Math.ceil(text.length / size) }, (_, at) => text.slice(at * size, (at + 1) * size));
}

export function callIdOf(call: ServerToolCall, request: ServerRequest, at: number): string {
  return call.id ?? `${request.wire === "anthropic-messages" ? "toolu" : "call"}_${request.index}_${at}`;
}

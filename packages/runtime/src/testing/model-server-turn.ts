import type { JsonObject, JsonValue } from "@keelson/protocol";

export interface ServerToolCall {
  readonly name: string;
  readonly input?: JsonValue;
  /** The raw arguments instead of `input`: they need not be JSON. */
  readonly inputText?: string;
  /** Default: derived from the number of the request. */
  readonly id?: string;
}

/** What the server answers to one request. */
export interface ServerTurn {
  /** An array is streamed piece by piece; a string in words. */
  readonly text?: string | readonly string[];
  readonly thinking?: string;
  readonly refusal?: string;
  readonly toolCalls?: readonly ServerToolCall[];
  /** Default: counts that follow from the lengths. Input includes what the cache gave. */
  readonly usage?: {
    readonly inputTokens?: number;
    readonly outputTokens?: number;
    readonly cacheReadTokens?: number;
    readonly cacheCreationTokens?: number;
  };
  /** The vendor's word; default: the one that fits. */
  readonly stopReason?: string;
  /** An HTTP error instead of an answer; with 200 the error comes in an answer that is otherwise good. */
  readonly status?: number;
  readonly error?: { readonly message: string; readonly type?: string; readonly code?: string };
  readonly headers?: { readonly [name: string]: string };
  readonly misbehave?: Misbehaviour;
}

/** Ways to be a bad server. They can be combined. */
export interface Misbehaviour {
  /** The connection is reset after so many bytes of the body. */
  readonly resetAfterBytes?: number;
  /** The stream ends without `[DONE]` or `message_stop`. */
  readonly omitEnd?: boolean;
  /** Chat: the stream ends without a finish reason. Anthropic: without `message_delta`. */
  readonly omitFinish?: boolean;
  /** The body is sent in chunks of so many bytes, which cut characters and events anywhere. */
  readonly chunkBytes?: number;
  readonly lineEnd?: "\n" | "\r\n" | "\r";
  /** Comment lines between the events. */
  readonly comments?: boolean;
  /** `ping` events between the events (chat: events without choices). */
  readonly pings?: boolean;
  /** No `event:` lines and no space after `data:`. */
  readonly bare?: boolean;
  /** An error event after half of the events. */
  readonly errorInStream?: { readonly message: string; readonly type?: string; readonly code?: string };
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
  readonly wire: "anthropic-messages" | "openai-chat";
  readonly path: string;
  readonly headers: { readonly [name: string]: string };
  readonly body: JsonObject;
  readonly streamed: boolean;
}

/** One turn in a wire's own words. */
export interface EncodedTurn {
  /** `[event name, data]`, in order; the finish and the end are told apart so that they can be left out. */
  readonly events: readonly ServerEvent[];
  readonly whole: JsonObject;
}

export interface ServerEvent {
  readonly name: string;
  readonly data: string;
  readonly role?: "finish" | "end";
}

export interface TurnCounts {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheCreationTokens: number;
}

export function countsOf(turn: ServerTurn, request: ServerRequest): TurnCounts {
  const said =
    pieces(turn).join("").length +
    (turn.thinking?.length ?? 0) +
    (turn.toolCalls ?? []).reduce((sum, call) => sum + argumentsOf(call).length, 0);
  return {
    inputTokens: turn.usage?.inputTokens ?? Math.ceil(JSON.stringify(request.body).length / 4),
    outputTokens: turn.usage?.outputTokens ?? Math.ceil(said / 4),
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

/** Cut as vendors cut arguments: anywhere. */
export function argumentPieces(call: ServerToolCall): readonly string[] {
  const text = argumentsOf(call);
  const size = Math.max(1, Math.ceil(text.length / 3));
  return Array.from({ length: Math.ceil(text.length / size) }, (_, at) => text.slice(at * size, (at + 1) * size));
}

export function callIdOf(call: ServerToolCall, request: ServerRequest, at: number): string {
  return call.id ?? `${request.wire === "anthropic-messages" ? "toolu" : "call"}_${request.index}_${at}`;
}

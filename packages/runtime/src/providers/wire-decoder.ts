import { type JsonValue, ModelError, type ProviderData, type Usage } from "@keelson/protocol";
import { parseJson } from "../json/index.ts";
import type { DecodedEvent } from "./polled-events.ts";
import type { FailureContext } from "./vendor-failure.ts";

/** What one wire makes of a response. Everything it decodes is pushed onto the queue it was made with, in order. */
export interface WireDecoder {
  /** The format of responses that are a stream of JSON values: `event` gets each of them, `from` being -1. Default: none is. */
  readonly sequence?: "array" | "object" | undefined;
  /** One event of a stream, as `SseHandler.event` gets it. @throws ModelError */
  event(text: string, start: number, end: number, from: number): void;
  /** As `SseHandler.skim`. */
  skim(text: string, at: number): number;
  /** A response that came as one JSON value. @throws ModelError */
  whole(body: JsonValue): void;
  /**
   * The input is over: pushes what is open, and `end`.
   * @throws ModelError of kind `server-error` when the vendor's end of the response never came.
   */
  finish(): void;
  /**
   * What the vendor counted for the whole response, once he did: a stream that breaks off behind it is billed so. What he had counted in
   * the middle of a response is not it.
   */
  readonly reported?: Usage | undefined;
  /** The `end` was pushed: what may follow is of no interest. */
  readonly complete: boolean;
}

export interface DecoderContext extends FailureContext {
  /** The result of `Provider.outputBound` for the request. Default: it has none. */
  readonly outputBound?: number | null;
  /** The name that `ProviderData.wire` gets. */
  readonly wire: string;
  readonly requestId?: string;
}

export interface Fields {
  readonly [name: string]: unknown;
}

export function fieldsOf(value: unknown): Fields | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}

export function stringOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

export function countOf(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

/** Parses the data of one event. Integers that doubles do not keep are texts. */
export function parseEvent(data: string, context: DecoderContext): Fields {
  let value: unknown;
  try {
    value = parseJson(data);
  } catch (cause) {
    throw new ModelError(
      { kind: "invalid-response", message: `${context.provider} sent an event that is no JSON: ${data.slice(0, 120)}`, ...origin(context) },
      { cause },
    );
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new ModelError({
      kind: "invalid-response",
      message: `${context.provider} sent an event that is no object: ${data.slice(0, 120)}`,
      ...origin(context),
    });
  return value as Fields;
}

export function cutOff(context: DecoderContext): ModelError {
  return new ModelError({
    kind: "server-error",
    message: `the stream of ${context.provider} ended in the middle of the response`,
    code: "stream-cut",
    ...origin(context),
  });
}

export function invalidResponse(what: string, context: DecoderContext): ModelError {
  return new ModelError({ kind: "invalid-response", message: `${context.provider} responded with ${what}`, ...origin(context) });
}

function origin({ provider, model, requestId }: DecoderContext): { provider: string; model: string; requestId?: string } {
  return { provider, model, ...(requestId !== undefined && { requestId }) };
}

/** An id for a call that the vendor sent without one; unique, and of the form that all vendors take back. */
export function madeUpCallId(): string {
  return `call_${globalThis.crypto.randomUUID().replaceAll("-", "")}`;
}

/**
 * Pushes events so that one text or thinking segment is open at a time: deltas open what they need and close what stands in
 * their way.
 */
export class SegmentWriter {
  readonly #queue: DecodedEvent[];
  readonly #thinkingData: (() => ProviderData | undefined) | undefined;
  /** The segment that is open; changed by the methods alone. */
  open: "text" | "thinking" | undefined;

  /** `thinkingData` is asked when a thinking segment ends and nothing was given for it. */
  constructor(queue: DecodedEvent[], thinkingData?: () => ProviderData | undefined) {
    this.#queue = queue;
    this.#thinkingData = thinkingData;
  }

  start(type: "text" | "thinking"): void {
    if (this.open !== undefined) this.end();
    this.open = type;
    this.#queue.push(type === "text" ? { type: "text-start" } : { type: "thinking-start" });
  }

  text(text: string): void {
    if (this.open !== "text") this.start("text");
    this.#queue.push({ type: "text-delta", text });
  }

  /** As `text` with each of these, of which none is empty. */
  texts(texts: readonly string[]): void {
    if (texts.length === 0) return;
    if (this.open !== "text") this.start("text");
    this.#queue.push({ type: "text-run", texts });
  }

  thinking(text: string): void {
    if (this.open !== "thinking") this.start("thinking");
    this.#queue.push({ type: "thinking-delta", text });
  }

  end(providerData?: ProviderData): void {
    if (this.open === undefined) return;
    const type = this.open === "text" ? "text-end" : "thinking-end";
    const data = providerData ?? (type === "thinking-end" ? this.#thinkingData?.() : undefined);
    this.open = undefined;
    this.#queue.push(data === undefined ? { type } : { type, providerData: data });
  }
}

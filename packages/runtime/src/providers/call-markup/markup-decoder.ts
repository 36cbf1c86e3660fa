import type { InferRequest, JsonValue, Usage } from "@keelson/protocol";
import type { DecodedEvent } from "../polled-events.ts";
import { madeUpCallId, type WireDecoder } from "../wire-decoder.ts";
import { CALL_MARKUPS, type CallMarkupName, readCallMarkup } from "./call-markup.ts";
import { isInConversation } from "./echoed-markup.ts";

/** A longer text is no call. */
const MAX_HELD = 1024 * 1024;

/** Wraps the decoder of a vendor whose servers leave tool calls in the text; other requests are decoded without it. */
export function withCallMarkup(
  kinds: readonly CallMarkupName[] | undefined,
  request: InferRequest,
  queue: DecodedEvent[],
  create: (queue: DecodedEvent[]) => WireDecoder,
): WireDecoder {
  if (kinds === undefined || kinds.length === 0 || !request.tools?.length || request.toolChoice === "none") return create(queue);
  const inner: DecodedEvent[] = [];
  return new MarkupDecoder(create(inner), inner, queue, kinds, request);
}

/**
 * Holds a text back as long as it may be the markup of a tool call. It is a call only if all of the text is markup that names offered
 * tools, no other call came, and nothing in the conversation holds such markup: a model may repeat a page that it was given.
 */
class MarkupDecoder implements WireDecoder {
  readonly #decoder: WireDecoder;
  readonly #inner: DecodedEvent[];
  readonly #queue: DecodedEvent[];
  readonly #kinds: readonly CallMarkupName[];
  readonly #request: InferRequest;
  readonly #openers: readonly string[];
  /** The events of the text; `undefined` once it is surely text. */
  #held: DecodedEvent[] | undefined = [];
  #text = "";

  constructor(decoder: WireDecoder, inner: DecodedEvent[], queue: DecodedEvent[], kinds: readonly CallMarkupName[], request: InferRequest) {
    this.#decoder = decoder;
    this.#inner = inner;
    this.#queue = queue;
    this.#kinds = kinds;
    this.#request = request;
    this.#openers = kinds.flatMap((kind) => CALL_MARKUPS[kind].openers);
  }

  get sequence(): "array" | "object" | undefined {
    return this.#decoder.sequence;
  }

  get reported(): Usage | undefined {
    return this.#decoder.reported;
  }

  get complete(): boolean {
    return this.#decoder.complete;
  }

  event(text: string, start: number, end: number, from: number): void {
    this.#passing(() => this.#decoder.event(text, start, end, from));
  }

  skim(text: string, at: number): number {
    return this.#passing(() => this.#decoder.skim(text, at));
  }

  whole(body: JsonValue): void {
    this.#passing(() => this.#decoder.whole(body));
  }

  finish(): void {
    this.#passing(() => this.#decoder.finish());
  }

  /** Events that came before a failure are delivered before it. */
  #passing<T>(work: () => T): T {
    let failed = true;
    try {
      const result = work();
      failed = false;
      return result;
    } finally {
      for (const event of this.#inner.splice(0)) this.#pass(event);
      if (failed) this.#release();
    }
  }

  #pass(event: DecodedEvent): void {
    const held = this.#held;
    if (held === undefined) {
      this.#queue.push(event);
      return;
    }
    switch (event.type) {
      case "text-start":
      case "text-end":
        held.push(event);
        return;
      case "text-delta":
      case "text-run":
        held.push(event);
        this.#text += event.type === "text-delta" ? event.text : event.texts.join("");
        if (!this.#mayBeMarkup()) this.#release();
        return;
      case "end": {
        const calls = event.stopReason === "end-turn" || event.stopReason === "tool-use" ? this.#calls() : undefined;
        if (calls === undefined) this.#release();
        for (const [index, { name, input }] of (calls ?? []).entries()) {
          this.#queue.push({ type: "tool-call-start", index, id: madeUpCallId(), name }, { type: "tool-call-delta", index, text: input });
          this.#queue.push({ type: "tool-call-end", index });
        }
        this.#queue.push(calls === undefined ? event : { ...event, stopReason: "tool-use" });
        return;
      }
      default:
        // Thoughts come before the text. Anything else beside the text makes it a text.
        if (held.length > 0 && event.type !== "rate-limit") this.#release();
        this.#queue.push(event);
        if (event.type === "tool-call-start" || event.type === "content") this.#held = undefined;
    }
  }

  #mayBeMarkup(): boolean {
    const text = this.#text.trimStart();
    return (
      text.length <= MAX_HELD &&
      this.#openers.some((opener) => (text.length < opener.length ? opener.startsWith(text) : text.startsWith(opener)))
    );
  }

  #calls(): ReturnType<typeof readCallMarkup> {
    const { tools = [], messages } = this.#request;
    if (this.#text.trim() === "") return undefined;
    const calls = readCallMarkup(this.#text, this.#kinds, tools);
    if (calls === undefined || !calls.every(({ name }) => tools.some((tool) => tool.name === name))) return undefined;
    return isInConversation(messages, this.#openers) ? undefined : calls;
  }

  #release(): void {
    this.#queue.push(...(this.#held ?? []));
    this.#held = undefined;
  }
}

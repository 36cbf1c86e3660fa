import { type InferEvent, type JsonValue, ModelError } from "@keelson/protocol";
import { parseJson } from "../json/index.ts";
import {
  type ByteStream,
  JsonSequenceReader,
  readTextUpTo,
  readWholeText,
  sniffFormat,
  SseReader,
  type TransportResponse,
} from "../transport/index.ts";
import type { DecodedEvent, PolledEvents } from "./polled-events.ts";
import { type RateLimitHeaders, readRateLimit } from "./rate-limit.ts";
import { failureOfStatus, MAX_ERROR_BYTES } from "./vendor-failure.ts";
import type { WithheldKeys } from "./withheld-keys.ts";
import { cutOff, type DecoderContext, invalidResponse, type WireDecoder } from "./wire-decoder.ts";

/** Bytes that are decoded at once, at most, when more have come. */
const BATCH_BYTES = 64 * 1024;

/** One model call on some wire. */
export interface WireCall {
  readonly context: DecoderContext;
  /** Encodes and sends the request. Throws or rejects with `ModelError`. */
  send(): Promise<TransportResponse>;
  /** Of whoever sends. */
  readonly keys: WithheldKeys;
  /** `queue` takes the events. */
  decoder(queue: DecodedEvent[], context: DecoderContext): WireDecoder;
  /** In which headers a good response tells of limits; none when it tells of none. */
  readonly rateLimitHeaders?: RateLimitHeaders;
}

/**
 * The events of one model call. A network chunk is decoded as a batch, and `next` reads from it with a settled promise; the
 * network is read only when the batch is used up. Events that came before a failure are delivered before it.
 */
export class InferStream implements AsyncIterableIterator<InferEvent>, PolledEvents {
  readonly #call: WireCall;
  /** Names the vendor's request once he has told of it. */
  #context: DecoderContext;
  readonly #queue: DecodedEvent[] = [];
  #head = 0;
  /** How many were given of the run of texts at the head. */
  #given = 0;
  #response: TransportResponse | undefined;
  /** Whether the request was given to the transport. */
  #sent = false;
  #decoder: WireDecoder | undefined;
  #events: SseReader | JsonSequenceReader | undefined;
  /** What came before it showed what the body is. */
  #first: Uint8Array[] = [];
  /** False while the server sends only comments or blanks. */
  #isAlive = true;
  /** True once the decoder took a value of a sequence. */
  #tookValue = false;
  #failure: unknown;
  #over = false;
  /** How many `next` wait, and what the last of them waits for. */
  #waiting = 0;
  #pulling: Promise<IteratorResult<InferEvent, undefined>> | undefined;

  constructor(call: WireCall) {
    this.#call = call;
    this.#context = call.context;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<InferEvent, undefined>> {
    const before = this.#waiting === 0 ? undefined : this.#pulling;
    if (before === undefined && this.#isReady && this.#failure === undefined) return Promise.resolve(this.#taken());
    this.#waiting += 1;
    if (before === undefined) this.#pulling = this.#pull();
    else {
      // Whoever asks for more before the last response came waits in line.
      const pull = (): Promise<IteratorResult<InferEvent, undefined>> => this.#pull();
      this.#pulling = before.then(pull, pull);
    }
    return this.#pulling;
  }

  poll(): InferEvent | undefined {
    // The head stands at the end while somebody waits.
    const event = this.#queue[this.#head];
    if (event?.type === "text-run") {
      const text = event.texts[this.#given] as string;
      this.#given += 1;
      if (this.#given === event.texts.length) this.#passHead();
      return { type: "text-delta", text };
    }
    if (event !== undefined) this.#head += 1;
    return event;
  }

  pollTexts(): readonly string[] | undefined {
    const event = this.#queue[this.#head];
    if (event?.type !== "text-run") return undefined;
    const texts = this.#given === 0 ? event.texts : event.texts.slice(this.#given);
    this.#passHead();
    return texts;
  }

  /** Closes the connection. */
  return(): Promise<IteratorResult<InferEvent, undefined>> {
    this.#over = true;
    this.#empty();
    this.#response?.body.close();
    return Promise.resolve({ done: true, value: undefined });
  }

  #passHead(): void {
    this.#head += 1;
    this.#given = 0;
  }

  #empty(): void {
    this.#queue.length = 0;
    this.#head = 0;
    this.#given = 0;
  }

  /** There is something to give without waiting: an event, the failure, or the end. */
  get #isReady(): boolean {
    return this.#head < this.#queue.length || this.#over;
  }

  async #pull(): Promise<IteratorResult<InferEvent, undefined>> {
    try {
      if (!this.#isReady) {
        if (this.#head > 0) this.#empty();
        // Each further `async` function would cost every chunk its promises.
        const response = this.#response ?? (await this.#send());
        if (this.#response === undefined) {
          this.#response = response;
          if (this.#over) response.body.close();
          else if (response.status >= 200 && response.status < 300) this.#open(response);
          else throw await this.#refusal(response);
        }
        while (!this.#isReady) {
          let chunk: Uint8Array | undefined;
          try {
            chunk = response.body.poll() ?? (await response.body.read(this.#isAlive));
          } catch (error) {
            if (!ModelError.is(error, "server-error") || !this.#endsAllTheSame()) throw error;
          }
          if (this.#over) break;
          if (!this.#take(chunk, response.body)) this.#takeWhole(await readWholeText(response.body, this.#first));
          if (this.#decoder?.complete === true) {
            this.#over = true;
            await response.body.release();
          }
        }
      }
    } catch (error) {
      this.#response?.body.close();
      // Left by `return` while waiting: that is no failure.
      if (!this.#over) this.#failure = this.#call.keys.redacted(this.#withFacts(error));
      this.#over = true;
    }
    this.#waiting -= 1;
    return this.#taken();
  }

  /** The next of the batch, the end, or once the failure. */
  #taken(): IteratorResult<InferEvent, undefined> {
    const value = this.poll();
    if (value !== undefined) return { done: false, value };
    const failure = this.#failure;
    this.#failure = undefined;
    if (failure !== undefined) throw failure;
    return { done: true, value: undefined };
  }

  #send(): Promise<TransportResponse> {
    const sending = this.#call.send();
    this.#sent = true;
    return sending;
  }

  /** Whoever settles what the call cost asks how far the request came, and what the vendor had counted by then. */
  #withFacts(error: unknown): unknown {
    if (!ModelError.is(error)) return error;
    const { failure } = error;
    const usage = this.#decoder?.reported;
    const response = this.#response;
    const isRefused = response !== undefined && (response.status >= 400 || (failure.progress === "refused" && !this.#hasDecoded));
    const progress = response !== undefined ? (isRefused ? "refused" : "begun") : this.#sent ? failure.progress : "unsent";
    if (usage === undefined && progress === failure.progress) return error;
    const known = { ...failure, ...(progress !== undefined && { progress }), ...(usage !== undefined && { usage }) };
    return Object.assign(new ModelError(known, { cause: error.cause }), { stack: error.stack });
  }

  /** True if an event before the current one was decoded, or the current one held content. */
  get #hasDecoded(): boolean {
    return this.#tookValue || (this.#events instanceof SseReader && this.#events.tookEvent) || this.#queue.length > this.#head;
  }

  async #refusal(response: TransportResponse): Promise<ModelError> {
    const body = await readTextUpTo(response.body, MAX_ERROR_BYTES);
    return failureOfStatus(response.status, response, body, this.#call.context);
  }

  #open(response: TransportResponse): void {
    const requestId = response.header("request-id") ?? response.header("x-request-id") ?? response.header("apim-request-id");
    if (requestId !== undefined) this.#context = { ...this.#context, requestId };
    this.#decoder = this.#call.decoder(this.#queue, this.#context);
    const { rateLimitHeaders } = this.#call;
    if (rateLimitHeaders === undefined) return;
    const rateLimit = readRateLimit(response, rateLimitHeaders, Date.now());
    if (rateLimit !== undefined) this.#queue.push({ type: "rate-limit", rateLimit });
  }

  /** False when the body must be read as a whole. */
  #take(first: Uint8Array | undefined, body: ByteStream): boolean {
    const events = this.#events;
    if (events === undefined) return this.#recognize(first);
    if (first === undefined) {
      this.#inputOver(events);
      return true;
    }
    // What has come meanwhile is one batch with it.
    let bytes = 0;
    for (let chunk: Uint8Array | undefined = first; chunk !== undefined; chunk = bytes < BATCH_BYTES ? body.poll() : undefined) {
      bytes += chunk.length;
      events.push(chunk);
      if (this.#decoder?.complete === true) break;
    }
    this.#isAlive = !(events instanceof SseReader) || events.takeAlive();
    return true;
  }

  /** As `#take`, while nothing but blanks came. */
  #recognize(chunk: Uint8Array | undefined): boolean {
    const decoder = this.#decoder;
    if (decoder === undefined) return true;
    if (chunk === undefined) throw invalidResponse("an empty body", this.#context);
    this.#first.push(chunk);
    const begun = this.#first.length === 1 ? chunk : Buffer.concat(this.#first);
    const format = sniffFormat(begun);
    if (format === undefined) {
      this.#isAlive = false;
      // Blanks say nothing; only a byte order mark, whole or begun, is kept.
      if (begun[0] !== 0xef || begun.length > 3) this.#first = [];
      return true;
    }
    if (format === "events") this.#events = new SseReader(decoder);
    else if (format !== decoder.sequence) return false;
    else {
      this.#events = new JsonSequenceReader(
        {
          event: (text, start, end) => {
            if (!decoder.complete) decoder.event(text, start, end, -1);
            this.#tookValue = true;
          },
        },
        format,
      );
    }
    this.#first = [];
    this.#events.push(begun);
    this.#isAlive = !(this.#events instanceof SseReader) || this.#events.takeAlive();
    return true;
  }

  #takeWhole(text: string): void {
    this.#decoder?.whole(parseWhole(text, this.#context));
  }

  #inputOver(events: SseReader | JsonSequenceReader): void {
    const { context } = this.#call;
    const before = this.#decoder?.complete;
    try {
      events.end();
    } catch (error) {
      // The last event lacks its end: the stream was cut in it.
      throw ModelError.is(error, "invalid-response") ? cutOff(context) : error;
    }
    if (before !== true && events instanceof SseReader && !events.sawField)
      throw invalidResponse("neither JSON nor an event stream", context);
    this.#decoder?.finish();
  }

  /** Chat responses are whole once they told how they ended; only then may the connection break. */
  #endsAllTheSame(): boolean {
    if (this.#events === undefined) return false;
    try {
      this.#decoder?.finish();
    } catch {
      return false;
    }
    this.#over = true;
    return true;
  }
}

function parseWhole(text: string, context: DecoderContext): JsonValue {
  try {
    return parseJson(text);
  } catch (cause) {
    const message = `${context.provider} responded with something that is no JSON: ${text.trimStart().slice(0, 120)}`;
    throw new ModelError({ kind: "invalid-response", message, provider: context.provider, model: context.model }, { cause });
  }
}

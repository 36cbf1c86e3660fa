import { type InferEvent, type JsonValue, ModelError } from "@keelson/protocol";
import {
  type BodyFormat,
  JsonSequenceReader,
  readTextUpTo,
  readWholeText,
  sniffFormat,
  SseReader,
  type TransportAnswer,
} from "../transport/index.ts";
import type { PolledEvents } from "./polled-events.ts";
import { failureOfStatus, MAX_ERROR_BYTES } from "./vendor-failure.ts";
import { cutOff, type DecoderContext, notAnAnswer, type WireDecoder } from "./wire-decoder.ts";

/** Bytes that are decoded at once, at most, when more have come. */
const BATCH_BYTES = 64 * 1024;

/** One model call on some wire. */
export interface WireCall {
  readonly context: DecoderContext;
  /** Encodes and sends the request. Rejects with `ModelError`. */
  send(): Promise<TransportAnswer>;
  /** `queue` takes the events. */
  decoder(queue: InferEvent[], context: DecoderContext): WireDecoder;
  /** Events that the headers of a good answer tell. */
  headerEvents?(answer: TransportAnswer): readonly InferEvent[];
}

/**
 * The events of one model call. A network chunk is decoded as a batch, and `next` answers from it with a settled promise; the
 * network is read only when the batch is used up. Events that came before a failure are delivered before it.
 */
export class InferStream implements AsyncIterableIterator<InferEvent>, PolledEvents {
  readonly #call: WireCall;
  readonly #queue: InferEvent[] = [];
  #head = 0;
  #answer: TransportAnswer | undefined;
  #decoder: WireDecoder | undefined;
  #events: SseReader | JsonSequenceReader | undefined;
  #failure: unknown;
  #state: "new" | "open" | "over" = "new";
  #pulling: Promise<IteratorResult<InferEvent, undefined>> | undefined;

  constructor(call: WireCall) {
    this.#call = call;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<InferEvent, undefined>> {
    const before = this.#pulling;
    if (before === undefined && (this.#head < this.#queue.length || this.#state === "over")) return this.#step();
    // Whoever asks for more before the last answer came waits in line.
    const pulling = before === undefined ? this.#pull() : before.then(this.#step, this.#step);
    this.#pulling = pulling;
    const done = (): void => {
      if (this.#pulling === pulling) this.#pulling = undefined;
    };
    pulling.then(done, done);
    return pulling;
  }

  poll(): InferEvent | undefined {
    // The head stands at the end while somebody waits.
    const value = this.#queue[this.#head];
    if (value !== undefined) this.#head += 1;
    return value;
  }

  /** Closes the connection. */
  return(): Promise<IteratorResult<InferEvent, undefined>> {
    this.#end();
    this.#queue.length = 0;
    this.#head = 0;
    this.#answer?.body.close();
    return Promise.resolve({ done: true, value: undefined });
  }

  async #pull(): Promise<IteratorResult<InferEvent, undefined>> {
    this.#queue.length = 0;
    this.#head = 0;
    try {
      if (this.#state === "new") await this.#open();
      while (this.#queue.length === 0 && this.#state !== "over") await this.#read();
    } catch (error) {
      this.#answer?.body.close();
      // Left by `return` while waiting: that is no failure.
      if (this.#state !== "over") this.#failure = error;
      this.#end();
    }
    return this.#next();
  }

  readonly #step = (): Promise<IteratorResult<InferEvent, undefined>> =>
    this.#head < this.#queue.length || this.#state === "over" ? this.#next() : this.#pull();

  /** The next of the batch, the end, or once the failure. */
  #next(): Promise<IteratorResult<InferEvent, undefined>> {
    const value = this.#queue[this.#head];
    if (value !== undefined) {
      this.#head += 1;
      return Promise.resolve({ done: false, value });
    }
    const failure = this.#failure;
    this.#failure = undefined;
    return failure === undefined ? Promise.resolve({ done: true, value: undefined }) : Promise.reject(failure);
  }

  async #open(): Promise<void> {
    const answer = await this.#call.send();
    this.#answer = answer;
    if ((this.#state as string) === "over") {
      answer.body.close();
      return;
    }
    const header = (name: string): string | undefined => answer.header(name);
    if (answer.status < 200 || answer.status >= 300) {
      throw failureOfStatus(answer.status, header, await readTextUpTo(answer.body, MAX_ERROR_BYTES), this.#call.context);
    }
    const requestId = header("request-id") ?? header("x-request-id") ?? header("apim-request-id");
    const context = requestId === undefined ? this.#call.context : { ...this.#call.context, requestId };
    const decoder = this.#call.decoder(this.#queue, context);
    this.#decoder = decoder;
    this.#state = "open";
    if (this.#call.headerEvents !== undefined) this.#queue.push(...this.#call.headerEvents(answer));

    const first: Uint8Array[] = [];
    let format: BodyFormat | undefined;
    while (format === undefined) {
      const chunk = answer.body.poll() ?? (await answer.body.read());
      if (chunk === undefined) throw notAnAnswer("an empty body", context);
      first.push(chunk);
      format = sniffFormat(first.length === 1 ? chunk : Buffer.concat(first));
    }
    if (format !== "events" && format === decoder.sequence) {
      this.#events = new JsonSequenceReader(
        {
          event(text, start, end) {
            if (!decoder.complete) decoder.event(text, start, end, -1);
          },
        },
        format,
      );
      for (const chunk of first) this.#take(chunk);
      return;
    }
    if (format !== "events") {
      decoder.whole(parseWhole(await readWholeText(answer.body, first), context));
      this.#complete();
      return;
    }
    this.#events = new SseReader({
      event(text, start, end, from) {
        if (!decoder.complete) decoder.event(text, start, end, from);
      },
      skim: (text, at) => (decoder.complete ? at : decoder.skim(text, at)),
    });
    for (const chunk of first) this.#take(chunk);
  }

  async #read(): Promise<void> {
    const body = this.#answer?.body;
    if (body === undefined) return;
    let chunk: Uint8Array | undefined;
    try {
      chunk = body.poll() ?? (await body.read());
    } catch (error) {
      // Chat answers are whole once they told how they ended; only then may the connection break.
      if (!ModelError.is(error, "server-error") || !this.#endsAllTheSame()) throw error;
      return;
    }
    if (this.#state === "over") return;
    if (chunk === undefined) {
      this.#inputOver();
      return;
    }
    // What has come meanwhile is one batch with it.
    for (let bytes = 0; chunk !== undefined; chunk = bytes < BATCH_BYTES && !this.#decoder?.complete ? body.poll() : undefined) {
      bytes += chunk.length;
      this.#take(chunk);
    }
  }

  #take(chunk: Uint8Array): void {
    this.#events?.push(chunk);
    if (this.#decoder?.complete === true) this.#complete();
  }

  #inputOver(): void {
    const { context } = this.#call;
    const before = this.#decoder?.complete;
    try {
      this.#events?.end();
    } catch (error) {
      // The last event lacks its end: the stream was cut in it.
      throw ModelError.is(error, "invalid-response") ? cutOff(context) : error;
    }
    if (before !== true && this.#events instanceof SseReader && !this.#events.sawField)
      throw notAnAnswer("neither JSON nor an event stream", context);
    this.#decoder?.finish();
    this.#complete();
  }

  #endsAllTheSame(): boolean {
    try {
      this.#decoder?.finish();
    } catch {
      return false;
    }
    this.#end();
    return true;
  }

  #complete(): void {
    this.#end();
    this.#answer?.body.release();
  }

  #end(): void {
    this.#state = "over";
  }
}

function parseWhole(text: string, context: DecoderContext): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch (cause) {
    const message = `${context.provider} answered with something that is no JSON: ${text.trimStart().slice(0, 120)}`;
    throw new ModelError({ kind: "invalid-response", message, provider: context.provider, model: context.model }, { cause });
  }
}

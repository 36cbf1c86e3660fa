import type { Transform } from "node:stream";
import { ModelError, type RequestProgress } from "@keelson/protocol";
import { AnswerBuffer, type ByteSource } from "./answer-buffer.ts";
import type { AnswerHead, AnswerReceiver, Carrier } from "./carrier.ts";
import { contentDecoder } from "./content-decoder.ts";
import { type Timed, unwatchDeadline, watchDeadline } from "./deadline-watch.ts";
import { DEFAULT_TIMEOUTS, settledTimeouts, type Timeouts } from "./timeouts.ts";
import type { RequestOrigin, TransportAnswer, TransportRequest } from "./transport.ts";
import { cancelled, connectionFailed, timedOut } from "./transport-failure.ts";
import { type AbortWatcher, unwatchAbort, watchAbort } from "./watched-abort.ts";

/** Brings requests to a server. */
export interface Route {
  /** The server, for messages. */
  readonly host: string;
  /** Sends a request. What it throws is told as a request that HTTP cannot carry. */
  carry(request: TransportRequest, receiver: AnswerReceiver): Carrier;
}

/** One request and its answer, whatever carries it: owns the deadlines and the abort listener, and drops them with the last byte. */
export class Exchange implements TransportAnswer, AnswerReceiver, ByteSource, Timed, AbortWatcher {
  readonly #route: Route;
  #origin: RequestOrigin | undefined;
  #signal: AbortSignal | undefined;
  readonly #answer: PromiseWithResolvers<TransportAnswer> = Promise.withResolvers();
  /** Those that are turned off never end. */
  #timeouts: Required<Timeouts> = DEFAULT_TIMEOUTS;
  readonly body: AnswerBuffer;
  status = 0;
  /** Until the answer has ended. */
  #carrier: Carrier | undefined;
  #decoder: Transform | undefined;
  #head: AnswerHead | undefined;
  /** By when the whole answer must be there. */
  #end: number = Number.POSITIVE_INFINITY;
  /** By when the connection must stand, then the next byte be there, and at last the whole answer. */
  deadline: number = Number.POSITIVE_INFINITY;
  #connected = false;
  /** Whether the reader has fallen behind; some bytes may come all the same. */
  #paused = false;
  /** Whether the decoder got anything. */
  #encoded = false;
  #settled = false;

  constructor(route: Route) {
    this.#route = route;
    this.body = new AnswerBuffer(this);
  }

  /** Sends the request, once; its bytes are not kept until the answer is there. */
  start(request: TransportRequest): Promise<TransportAnswer> {
    const { signal, origin, timeouts } = request;
    this.#origin = origin;
    this.#signal = signal;
    if (timeouts !== undefined) this.#timeouts = settledTimeouts(timeouts);
    const { connectMs, totalMs } = this.#timeouts;
    const now = performance.now();
    this.#end = now + totalMs;
    this.deadline = Math.min(now + connectMs, this.#end);
    try {
      this.#carrier = this.#route.carry(request, this);
    } catch (cause) {
      const detail = cause instanceof Error ? cause.message : String(cause);
      const message = `the request to ${this.#route.host} cannot be sent: ${detail}`;
      this.#fail(
        ModelError.is(cause) ? cause : new ModelError({ kind: "invalid-request", message, progress: "unsent", ...origin }, { cause }),
      );
      return this.#answer.promise;
    }
    watchDeadline(this);
    if (signal !== undefined) watchAbort(signal, this);
    return this.#answer.promise;
  }

  header(name: string): string | undefined {
    return this.#head?.headers.get(name);
  }

  connected(): void {
    if (this.#settled) return;
    this.#connected = true;
    this.#heard();
    if (this.#carrier !== undefined) watchDeadline(this);
  }

  head(head: AnswerHead): void {
    this.#heard();
    this.#head = head;
    this.status = head.status;
    const encoding = head.headers.get("content-encoding");
    const decoder = encoding === undefined ? undefined : contentDecoder(encoding);
    if (decoder !== undefined) {
      this.#decoder = decoder;
      decoder.on("data", (chunk: Buffer) => this.body.push(chunk));
      decoder.on("drain", () => this.#carrier?.resume());
      // What follows the end of a compressed text is nothing to wait for.
      decoder.on("end", () => {
        this.destroy();
        this.body.end();
      });
      decoder.on("error", (cause) => this.broken(cause));
    }
    this.#answer.resolve(this);
  }

  bytes(chunk: Uint8Array): void {
    this.#heard();
    if (this.#decoder === undefined) {
      this.body.push(chunk);
      return;
    }
    this.#encoded = true;
    if (!this.#decoder.write(chunk)) this.#carrier?.pause();
  }

  end(): void {
    this.#carrier = undefined;
    // No decoder takes nothing for a whole, yet an answer without a body may name an encoding.
    if (this.#decoder !== undefined && this.#encoded) {
      this.#decoder.end();
      return;
    }
    this.destroy();
    this.body.end();
  }

  broken(cause: unknown): void {
    this.#fail(connectionFailed(this.#origin, this.#route.host, cause, this.#progress));
  }

  pause(): void {
    this.#paused = true;
    this.deadline = this.#end;
    (this.#decoder ?? this.#carrier)?.pause();
  }

  resume(): void {
    this.#paused = false;
    this.connected();
    (this.#decoder ?? this.#carrier)?.resume();
  }

  destroy(): void {
    this.#settled = true;
    unwatchDeadline(this);
    if (this.#signal !== undefined) unwatchAbort(this.#signal, this);
    this.#carrier?.destroy();
    this.#decoder?.destroy();
  }

  expire(): void {
    const { connectMs, idleMs, totalMs } = this.#timeouts;
    const origin = this.#origin;
    const { host } = this.#route;
    if (this.#end <= this.deadline) this.#fail(timedOut(origin, `no whole answer from ${host}`, totalMs, "totalMs", this.#progress));
    else if (this.#connected) this.#fail(timedOut(origin, `no byte from ${host}`, idleMs, "idleMs", this.#progress));
    else this.#fail(timedOut(origin, `no connection to ${host}`, connectMs, "connectMs", this.#progress));
  }

  /** Whatever carries it: before the connection stands, nothing of a request is sent. */
  get #progress(): RequestProgress {
    return this.#head !== undefined ? "begun" : this.#connected ? "sent" : "unsent";
  }

  #heard(): void {
    if (!this.#paused) this.deadline = Math.min(performance.now() + this.#timeouts.idleMs, this.#end);
  }

  /** The signal has fired. */
  handleEvent(): void {
    this.#fail(cancelled(this.#origin, this.#signal?.reason, this.#progress));
  }

  #fail(failure: ModelError): void {
    if (this.#settled) return;
    this.destroy();
    if (this.#head === undefined) this.#answer.reject(failure);
    else this.body.end(failure);
  }
}

import type { Transform } from "node:stream";
import { ModelError } from "@keelson/protocol";
import { AnswerBuffer, type ByteSource } from "./answer-buffer.ts";
import type { AnswerHead, AnswerReceiver, Carrier } from "./carrier.ts";
import { contentDecoder } from "./content-decoder.ts";
import { deadlineIn, type Timed, unwatchDeadline, watchDeadline } from "./deadline-watch.ts";
import { DEFAULT_TIMEOUTS, type Timeouts } from "./timeouts.ts";
import type { TransportAnswer, TransportRequest } from "./transport.ts";
import { cancelled, connectionFailed, timedOut } from "./transport-failure.ts";
import { type AbortWatcher, unwatchAbort, watchAbort } from "./watched-abort.ts";

/** One request and its answer, whatever carries it: owns the deadlines and the abort listener, and drops them with the last byte. */
export class Exchange implements TransportAnswer, AnswerReceiver, ByteSource, Timed, AbortWatcher {
  readonly #request: TransportRequest;
  readonly #host: string;
  readonly #resolve: (answer: TransportAnswer) => void;
  readonly #reject: (failure: ModelError) => void;
  readonly #timeouts: Required<Timeouts>;
  readonly body: AnswerBuffer;
  status = 0;
  /** Until the answer has ended. */
  #carrier: Carrier | undefined;
  #decoder: Transform | undefined;
  #head: AnswerHead | undefined;
  /** By when the connection must stand, then the next byte be there. */
  #phaseEnd: number = Number.POSITIVE_INFINITY;
  #end: number = Number.POSITIVE_INFINITY;
  #connected = false;
  /** Whether the reader has fallen behind; some bytes may come all the same. */
  #paused = false;
  /** Whether the decoder got anything. */
  #encoded = false;
  #settled = false;

  constructor(request: TransportRequest, host: string, resolve: (answer: TransportAnswer) => void, reject: (failure: ModelError) => void) {
    this.#request = request;
    this.#host = host;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#timeouts = request.timeouts === undefined ? DEFAULT_TIMEOUTS : { ...DEFAULT_TIMEOUTS, ...request.timeouts };
    this.body = new AnswerBuffer(this);
  }

  /** `carry` sends the request; what it throws is told as a request that HTTP cannot carry. */
  start(carry: (receiver: AnswerReceiver) => Carrier): void {
    const { connectMs, totalMs } = this.#timeouts;
    const now = performance.now();
    this.#end = deadlineIn(totalMs, now);
    this.#phaseEnd = deadlineIn(connectMs, now);
    try {
      this.#carrier = carry(this);
    } catch (cause) {
      const detail = cause instanceof Error ? cause.message : String(cause);
      const message = `the request to ${this.#host} cannot be sent: ${detail}`;
      this.#fail(ModelError.is(cause) ? cause : new ModelError({ kind: "invalid-request", message, ...this.#request.origin }, { cause }));
      return;
    }
    watchDeadline(this);
    const { signal } = this.#request;
    if (signal !== undefined) watchAbort(signal, this);
  }

  header(name: string): string | undefined {
    return this.#head?.header(name);
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
    const decoder = contentDecoder(head.header("content-encoding"));
    if (decoder !== undefined) {
      this.#decoder = decoder;
      decoder.on("data", (chunk: Buffer) => this.body.push(chunk));
      decoder.on("drain", () => this.#carrier?.resume());
      decoder.on("end", () => this.#conclude());
      decoder.on("error", (cause) => this.broken(cause));
    }
    this.#resolve(this);
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
    if (this.#decoder === undefined) this.#conclude();
    // No decoder takes nothing for a whole, yet an answer without a body may name an encoding.
    else if (this.#encoded) this.#decoder.end();
    else this.#conclude();
  }

  broken(cause: unknown): void {
    this.#fail(connectionFailed(this.#request.origin, this.#host, cause, this.#head !== undefined));
  }

  pause(): void {
    this.#paused = true;
    this.#phaseEnd = Number.POSITIVE_INFINITY;
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
    const { signal } = this.#request;
    if (signal !== undefined) unwatchAbort(signal, this);
    this.#carrier?.destroy();
    this.#decoder?.destroy();
  }

  get deadline(): number {
    return Math.min(this.#phaseEnd, this.#end);
  }

  expire(): void {
    const { connectMs, idleMs, totalMs } = this.#timeouts;
    const { origin } = this.#request;
    if (this.#end <= this.#phaseEnd) this.#fail(timedOut(origin, `no whole answer from ${this.#host}`, totalMs, "totalMs"));
    else if (this.#connected) this.#fail(timedOut(origin, `no byte from ${this.#host}`, idleMs, "idleMs"));
    else this.#fail(timedOut(origin, `no connection to ${this.#host}`, connectMs, "connectMs"));
  }

  #heard(): void {
    if (!this.#paused) this.#phaseEnd = deadlineIn(this.#timeouts.idleMs);
  }

  /** The signal has fired. */
  handleEvent(): void {
    this.#fail(cancelled(this.#request.origin, this.#request.signal?.reason));
  }

  #conclude(): void {
    // What follows the end of a compressed text is nothing to wait for.
    this.destroy();
    this.body.end();
  }

  #fail(failure: ModelError): void {
    if (this.#settled) return;
    this.destroy();
    if (this.#head === undefined) this.#reject(failure);
    else this.body.fail(failure);
  }
}

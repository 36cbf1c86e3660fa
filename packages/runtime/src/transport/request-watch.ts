import type { ModelError, RequestProgress } from "@keelson/protocol";
import { DEFAULT_TIMEOUTS, type Timeouts } from "./timeouts.ts";
import type { TransportRequest } from "./transport.ts";
import { cancelled, connectionFailed, timedOut } from "./transport-failure.ts";

/** A longer wait than Node can set a timer for is none. */
const LONGEST_WAIT_MS = 2 ** 31 - 1;

/** What becomes of one request, whatever carries it: how far it came, its deadlines, its signal, and why it failed. */
export class RequestWatch {
  /** Of all tries together: what was sent once may be billed. */
  progress: RequestProgress = "unsent";
  /** Set once. */
  failure: ModelError | undefined;
  readonly #request: TransportRequest;
  readonly #host: string;
  readonly #timeouts: Required<Timeouts>;
  #onFailure: ((failure: ModelError) => void) | undefined;
  /** Until the connection stands, then until the next byte is there. */
  #timer: NodeJS.Timeout | undefined;
  readonly #totalTimer: NodeJS.Timeout | undefined;
  /** Whether the next byte is the server's to send; else the reader has fallen behind, whose time does not count. */
  #isWaiting = true;
  /** The timer fired while the reader had fallen behind. */
  #isExpired = false;
  #isOver = false;

  /** @param host - for messages */
  constructor(request: TransportRequest, host: string) {
    this.#request = request;
    this.#host = host;
    this.#timeouts = { ...DEFAULT_TIMEOUTS, ...request.timeouts };
    const { totalMs } = this.#timeouts;
    this.#totalTimer = timer(totalMs, () => this.fail(this.#timedOut(`no whole response from ${host}`, "totalMs")));
    request.signal?.addEventListener("abort", this.#aborted, { once: true });
  }

  /** Who is told of a failure from now on. */
  onFailure(told: (failure: ModelError) => void): void {
    this.#onFailure = told;
  }

  connects(): void {
    clearTimeout(this.#timer);
    this.#timer = timer(this.#timeouts.connectMs, () => this.fail(this.#timedOut(`no connection to ${this.#host}`, "connectMs")));
  }

  /** The connection stands: from now on a response is waited for. */
  connected(): void {
    if (this.#isOver) return;
    clearTimeout(this.#timer);
    this.progress = "sent";
    this.#timer = timer(this.#timeouts.idleMs, () => {
      if (this.#isWaiting) this.fail(this.#timedOut(`no byte from ${this.#host}`, "idleMs"));
      else this.#isExpired = true;
    });
  }

  /** The head of the response is there. */
  begun(): void {
    this.progress = "begun";
    this.rests();
  }

  /** @param isAlive - false if comments alone came, by which a proxy keeps the connection of a dead response open */
  waits(isAlive: boolean): void {
    this.#isWaiting = true;
    if (this.#isOver || (!isAlive && !this.#isExpired)) return;
    this.#isExpired = false;
    this.#timer?.refresh();
  }

  rests(): void {
    this.#isWaiting = false;
  }

  /** The rest of the response is of no interest: only this deadline holds. */
  endIn(ms: number, expire: () => void): void {
    this.end();
    this.#timer = timer(ms, expire);
  }

  /** Nothing more is waited for. */
  end(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#totalTimer);
    this.#request.signal?.removeEventListener("abort", this.#aborted);
  }

  /** What a connection failed with that could not be made, or broke off. */
  failureOf(cause: unknown): ModelError {
    return connectionFailed(this.#request.origin, this.#host, cause, this.progress);
  }

  broke(cause: unknown): void {
    this.fail(this.failureOf(cause));
  }

  /** Only the first is one. */
  fail(failure: ModelError): void {
    if (this.#isOver) return;
    this.end();
    this.failure = failure;
    this.#onFailure?.(failure);
  }

  readonly #aborted = (): void => this.fail(cancelled(this.#request.origin, this.#request.signal?.reason, this.progress));

  #timedOut(what: string, name: keyof Timeouts): ModelError {
    return timedOut(this.#request.origin, what, this.#timeouts[name], name, this.progress);
  }
}

/** The connection keeps the process alive, not its deadlines. */
function timer(ms: number, expire: () => void): NodeJS.Timeout | undefined {
  return ms > 0 && ms <= LONGEST_WAIT_MS ? setTimeout(expire, ms).unref() : undefined;
}

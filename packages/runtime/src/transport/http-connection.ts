import type { OnReadOpts, Socket } from "node:net";
import type { AnswerReceiver, Carrier } from "./carrier.ts";
import { type Timed, unwatchDeadline, watchDeadline } from "./deadline-watch.ts";
import { HttpAnswerParser } from "./http-answer-parser.ts";
import type { RequestHead } from "./request-head.ts";

/** Up to this size a request goes out in one piece. */
const ONE_WRITE_BYTES = 64 * 1024;
/** A kept connection is given up this long before the server said it would, so that both do not meet. */
const KEEP_ALIVE_MARGIN_MS = 1000;

/** What requests are put together in. */
let joined: Buffer = Buffer.alloc(0);

/** Where connections go that nobody uses. */
export interface ConnectionKeeper {
  /** How long an unused one is kept. */
  readonly idleMs: number;
  /** Whether it was taken. */
  keep(connection: HttpConnection): boolean;
  drop(connection: HttpConnection): void;
}

/** One connection over which requests go one after the other; it keeps the process alive only while it carries one. */
export class HttpConnection implements Carrier, Timed {
  readonly #socket: Socket;
  readonly #keeper: ConnectionKeeper;
  /** Whether what is written is at the system when `write` returns, unless its buffers are full. */
  readonly #writesAtOnce: boolean;
  #receiver: AnswerReceiver | undefined;
  #parser: HttpAnswerParser | undefined;
  #connected = false;
  #paused = false;
  /** Whether the server was told that no other request comes. */
  #last = false;
  #failure: Error | undefined;
  /** When an unused connection is closed. */
  deadline: number = Number.POSITIVE_INFINITY;

  /** @param open - makes the socket that calls `read` with what comes in: the bytes are valid during the call only. */
  constructor(keeper: ConnectionKeeper, readyEvent: "connect" | "secureConnect", open: (read: OnReadOpts["callback"]) => Socket) {
    this.#keeper = keeper;
    this.#writesAtOnce = readyEvent === "connect";
    this.#socket = open(this.#read.bind(this));
    this.#socket.once(readyEvent, () => {
      this.#connected = true;
      this.#receiver?.connected();
    });
    this.#socket.on("error", (cause) => {
      this.#failure = cause;
      // "close" comes a turn later: a connection that failed while unused must not be taken meanwhile.
      this.#ended();
    });
    this.#socket.on("end", () => this.#ended());
    this.#socket.on("close", () => this.#ended());
  }

  ask({ text: head, last }: RequestHead, body: readonly Uint8Array[], bodyBytes: number, receiver: AnswerReceiver): void {
    this.#receiver = receiver;
    this.#parser = new HttpAnswerParser();
    this.#last = last;
    if (this.#connected) {
      unwatchDeadline(this);
      this.#socket.ref();
      receiver.connected();
    }
    const socket = this.#socket;
    if (head.length + bodyBytes <= ONE_WRITE_BYTES) {
      // As one piece, the whole goes to the system in one call.
      if (joined.length === 0) joined = Buffer.allocUnsafeSlow(ONE_WRITE_BYTES);
      let length = joined.write(head, "latin1");
      for (const part of body) {
        joined.set(part, length);
        length += part.length;
      }
      if (this.#connected && this.#writesAtOnce) {
        socket.write(joined.subarray(0, length));
        // The system takes all of it at once, most times; else the bytes are the socket's, and the next request gets others.
        if (socket.writableLength > 0) joined = Buffer.alloc(0);
      }
      // As text, no buffer must be kept until it is there.
      else socket.write(joined.toString("latin1", 0, length), "latin1");
      return;
    }
    socket.cork();
    socket.write(head, "latin1");
    for (const part of body) socket.write(part);
    socket.uncork();
  }

  pause(): void {
    this.#paused = true;
    this.#socket.pause();
  }

  resume(): void {
    this.#paused = false;
    this.#socket.resume();
  }

  destroy(): void {
    this.#receiver = undefined;
    this.#parser = undefined;
    unwatchDeadline(this);
    this.#keeper.drop(this);
    this.#socket.destroy();
  }

  expire(): void {
    this.destroy();
  }

  /** @returns whether more is to be read, which is always: a reader that falls behind pauses the socket */
  #read(length: number, buffer: Uint8Array): true {
    const parser = this.#parser;
    const receiver = this.#receiver;
    if (parser === undefined || receiver === undefined) {
      // A server that speaks unasked, or has more to say than its answer.
      this.destroy();
      return true;
    }
    const known = parser.head !== undefined;
    const body = parser.push((buffer as Buffer).subarray(0, length));
    if (!known && parser.head !== undefined) receiver.head(parser.head);
    if (body !== undefined && this.#receiver === receiver) receiver.bytes(body);
    if (this.#receiver !== receiver) return true;
    if (parser.failure !== undefined) this.#break(new Error(`the answer is malformed: ${parser.failure.message}`));
    else if (parser.done) this.#finish(receiver, parser);
    return true;
  }

  #finish(receiver: AnswerReceiver, parser: HttpAnswerParser): void {
    this.#receiver = undefined;
    this.#parser = undefined;
    if (this.#paused) this.resume();
    const { reusable, keepAliveSeconds = Number.POSITIVE_INFINITY } = parser;
    const idleMs = Math.min(this.#keeper.idleMs, keepAliveSeconds * 1000 - KEEP_ALIVE_MARGIN_MS);
    // A server may answer before it has read the whole request.
    const isFree = reusable && !this.#last && this.#socket.writableLength === 0;
    if (isFree && idleMs > 0 && this.#keeper.keep(this)) {
      this.deadline = performance.now() + idleMs;
      watchDeadline(this);
      this.#socket.unref();
    } else this.destroy();
    receiver.end();
  }

  /** The server has ended the connection, or it broke off. */
  #ended(): void {
    const receiver = this.#receiver;
    const parser = this.#parser;
    if (receiver === undefined || parser === undefined) this.destroy();
    else if (this.#failure === undefined && parser.close()) this.#finish(receiver, parser);
    else this.#break(this.#failure ?? Object.assign(new Error("the server closed the connection"), { code: "ECONNRESET" }));
  }

  #break(cause: unknown): void {
    const receiver = this.#receiver;
    this.destroy();
    receiver?.broken(cause);
  }
}

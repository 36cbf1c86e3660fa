import type * as Http from "node:http";
import type * as Https from "node:https";
import type { Readable } from "node:stream";
import { ModelError } from "@keelson/protocol";
import { AnswerBuffer, type ByteSource } from "./answer-buffer.ts";
import { deadlineIn, type Timed, unwatchDeadline, watchDeadline } from "./deadline-watch.ts";
import { cancelled, connectionFailed, timedOut } from "./transport-failure.ts";
import { DEFAULT_TIMEOUTS, type Timeouts } from "./timeouts.ts";
import type { TransportAnswer, TransportRequest } from "./transport.ts";

/** Up to this size a request is put together in one piece. */
const ONE_WRITE_BYTES = 64 * 1024;

/** Where requests of one address go. */
export interface NodeTarget {
  readonly host: string;
  readonly http: typeof Http | typeof Https;
  readonly options: Http.RequestOptions;
}

/** One request and its answer: owns the deadlines and the abort listener, and drops them with the last byte. */
export class NodeExchange implements TransportAnswer, ByteSource, Timed {
  readonly #request: TransportRequest;
  readonly #target: NodeTarget;
  readonly #resolve: (answer: TransportAnswer) => void;
  readonly #reject: (failure: ModelError) => void;
  readonly #timeouts: Required<Timeouts>;
  readonly body: AnswerBuffer;
  status = 0;
  #client: Http.ClientRequest | undefined;
  #headers: Http.IncomingHttpHeaders | undefined;
  #source: Readable | undefined;
  /** By when the connection must stand, then the next byte be there. */
  #phaseEnd: number = Number.POSITIVE_INFINITY;
  #end: number = Number.POSITIVE_INFINITY;
  #connected = false;
  #settled = false;

  constructor(
    request: TransportRequest,
    target: NodeTarget,
    resolve: (answer: TransportAnswer) => void,
    reject: (failure: ModelError) => void,
  ) {
    this.#request = request;
    this.#target = target;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#timeouts = request.timeouts === undefined ? DEFAULT_TIMEOUTS : { ...DEFAULT_TIMEOUTS, ...request.timeouts };
    this.body = new AnswerBuffer(this);
  }

  start(): void {
    const { body = [], headers, method, signal, origin } = this.#request;
    let length = 0;
    for (const part of body) length += part.length;
    const inParts = length > ONE_WRITE_BYTES;
    let client: Http.ClientRequest;
    try {
      client = this.#target.http.request({
        ...this.#target.options,
        method,
        // Node tells the length of what goes out in one write. No array of headers: instrumentations of `http` spoil it.
        headers: inParts ? { ...headers, "content-length": length } : { ...headers },
      });
    } catch (cause) {
      // Header values and paths that HTTP cannot carry.
      this.#fail(
        new ModelError(
          {
            kind: "invalid-request",
            message: `the request to ${this.#target.host} cannot be sent: ${cause instanceof Error ? cause.message : String(cause)}`,
            ...origin,
          },
          { cause },
        ),
      );
      return;
    }
    this.#client = client;
    const now = performance.now();
    this.#end = deadlineIn(this.#timeouts.totalMs, now);
    if (client.reusedSocket) this.#waitForBytes(now);
    else this.#waitForConnection(client);
    signal?.addEventListener("abort", this.#abort);
    client.on("response", (response) => this.#answer(response));
    client.on("error", (cause) => this.#break(cause));
    if (inParts) {
      for (const part of body) client.write(part);
      client.end();
    } else client.end(oneByteText(body), "latin1");
  }

  header(name: string): string | undefined {
    const value = this.#headers?.[name];
    return Array.isArray(value) ? value.join(", ") : value;
  }

  pause(): void {
    this.#phaseEnd = Number.POSITIVE_INFINITY;
    this.#source?.pause();
  }

  resume(): void {
    this.#waitForBytes();
    this.#source?.resume();
  }

  destroy(): void {
    this.#settle();
    this.#client?.destroy();
  }

  get deadline(): number {
    return Math.min(this.#phaseEnd, this.#end);
  }

  expire(): void {
    const { connectMs, idleMs, totalMs } = this.#timeouts;
    const { host } = this.#target;
    const { origin } = this.#request;
    if (this.#end <= this.#phaseEnd) this.#fail(timedOut(origin, `no whole answer from ${host}`, totalMs, "totalMs"));
    else if (this.#connected) this.#fail(timedOut(origin, `no byte from ${host}`, idleMs, "idleMs"));
    else this.#fail(timedOut(origin, `no connection to ${host}`, connectMs, "connectMs"));
  }

  #waitForConnection(client: Http.ClientRequest): void {
    this.#phaseEnd = deadlineIn(this.#timeouts.connectMs);
    watchDeadline(this);
    client.once("socket", (socket) => {
      const encrypting = (socket as { secureConnecting?: boolean }).secureConnecting;
      if (!socket.connecting && encrypting !== true) this.#waitForBytes();
      else socket.once(encrypting === undefined ? "connect" : "secureConnect", () => this.#waitForBytes());
    });
  }

  /** Starts, or starts anew, the time without a byte. */
  #waitForBytes(now?: number): void {
    if (this.#settled) return;
    this.#connected = true;
    this.#heard(now);
    watchDeadline(this);
  }

  #heard(now?: number): void {
    this.#phaseEnd = deadlineIn(this.#timeouts.idleMs, now);
  }

  #answer(response: Http.IncomingMessage): void {
    const source = decoded(response);
    this.status = response.statusCode ?? 0;
    this.#headers = response.headers;
    this.#source = source;
    this.#heard();
    source.on("data", (chunk: Buffer) => {
      this.#heard();
      this.body.push(chunk);
    });
    source.on("end", () => {
      if (!response.complete) this.#break(new Error("the server closed it"));
      this.#settle();
      this.body.end();
    });
    const broken = (cause: unknown): void => this.#break(cause);
    response.on("error", broken);
    if (source !== response) source.on("error", broken);
    this.#resolve(this);
  }

  readonly #abort = (): void => this.#fail(cancelled(this.#request.origin, this.#request.signal?.reason));

  #break(cause: unknown): void {
    this.#fail(connectionFailed(this.#request.origin, this.#target.host, cause, this.#source !== undefined));
  }

  #fail(failure: ModelError): void {
    if (this.#settled) return;
    this.#settle();
    this.#client?.destroy();
    if (this.#source === undefined) this.#reject(failure);
    else this.body.fail(failure);
  }

  #settle(): void {
    this.#settled = true;
    unwatchDeadline(this);
    this.#request.signal?.removeEventListener("abort", this.#abort);
  }
}

/** Text of one character a byte goes out together with the headers, in one write without a further copy of bytes. */
function oneByteText(body: readonly Uint8Array[]): string {
  let text = "";
  for (const part of body) {
    const bytes = Buffer.isBuffer(part) ? part : Buffer.from(part.buffer, part.byteOffset, part.length);
    text += bytes.toString("latin1");
  }
  return text;
}

/** We ask for no compression; some gateways compress all the same. */
function decoded(response: Http.IncomingMessage): Readable {
  const encoding = response.headers["content-encoding"];
  if (encoding === undefined || encoding === "identity" || encoding === "") return response;
  const zlib = process.getBuiltinModule("node:zlib");
  const decoder =
    encoding === "gzip" || encoding === "x-gzip"
      ? zlib.createGunzip()
      : encoding === "deflate"
        ? zlib.createInflate()
        : encoding === "br"
          ? zlib.createBrotliDecompress()
          : encoding === "zstd"
            ? zlib.createZstdDecompress()
            : undefined;
  if (decoder === undefined) return response;
  response.on("error", (cause) => decoder.destroy(cause));
  return response.pipe(decoder);
}

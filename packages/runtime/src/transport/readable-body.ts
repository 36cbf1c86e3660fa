import type { Readable } from "node:stream";
import type { ByteStream } from "./byte-stream.ts";
import type { RequestWatch } from "./request-watch.ts";

/** A rest up to this long, and this long in coming, is read away to keep the connection. */
const DRAIN_BYTES = 64 * 1024;
const DRAIN_MS = 1000;

/** What a response comes over. */
export interface ResponseConnection {
  /** Whether the response has come whole, read or not. */
  hasAll(): boolean;
  /** Told where the response is left before its end. */
  close(): void;
}

/** The body of a response that comes out of a stream of Node's. The stream pauses the connection while nobody reads. */
export class ReadableBody implements ByteStream {
  readonly #source: Readable;
  readonly #watch: RequestWatch;
  readonly #connection: ResponseConnection;
  #waiter: PromiseWithResolvers<Uint8Array | undefined> | undefined;
  /** Bytes that may still be read away; absent while there is a reader. */
  #drainable: number | undefined;
  readonly #drained: PromiseWithResolvers<void> = Promise.withResolvers();
  #isClosed = false;
  #isOver = false;

  constructor(source: Readable, watch: RequestWatch, connection: ResponseConnection) {
    this.#source = source;
    this.#watch = watch;
    this.#connection = connection;
    source.on("readable", () => this.#moreCame());
    source.on("end", () => this.#end());
    source.on("error", (cause) => this.#break(cause));
    watch.onFailure(() => this.#fail());
  }

  poll(): Uint8Array | undefined {
    if (this.#isClosed) return undefined;
    return (this.#source.read() as Uint8Array | null) ?? undefined;
  }

  async read(isAlive = true): Promise<Uint8Array | undefined> {
    const chunk = this.poll();
    if (chunk !== undefined) return chunk;
    if (this.#isClosed) return undefined;
    if (this.#watch.failure !== undefined) throw this.#watch.failure;
    if (this.#isOver) return undefined;
    this.#waiter = Promise.withResolvers<Uint8Array | undefined>();
    this.#watch.waits(isAlive);
    return this.#waiter.promise;
  }

  close(): void {
    this.#isClosed = true;
    if (!this.#isOver) this.#leave();
    this.#tell(undefined);
  }

  async release(): Promise<void> {
    this.#isClosed = true;
    if (this.#isOver || this.#drainable !== undefined) return;
    this.#drainable = DRAIN_BYTES;
    this.#watch.endIn(DRAIN_MS, () => this.#leave());
    this.#drain();
    if (this.#connection.hasAll()) await this.#drained.promise;
  }

  #moreCame(): void {
    if (this.#drainable !== undefined) this.#drain();
    else if (this.#waiter !== undefined) this.#tell(this.poll());
  }

  #drain(): void {
    while (!this.#isOver) {
      const chunk = this.#source.read() as Uint8Array | null;
      if (chunk === null) return;
      this.#drainable = (this.#drainable as number) - chunk.length;
      if (this.#drainable < 0) this.#leave();
    }
  }

  #end(): void {
    this.#isOver = true;
    this.#watch.end();
    this.#drained.resolve();
    this.#waiter?.resolve(undefined);
    this.#waiter = undefined;
  }

  /** @param chunk - nothing: what was announced was the end, which is told by itself */
  #tell(chunk: Uint8Array | undefined): void {
    if (chunk === undefined && !this.#isClosed) return;
    this.#watch.rests();
    this.#waiter?.resolve(chunk);
    this.#waiter = undefined;
  }

  #leave(): void {
    this.#isOver = true;
    this.#watch.end();
    this.#source.destroy();
    this.#connection.close();
    this.#drained.resolve();
  }

  #break(cause: unknown): void {
    if (this.#isOver) return;
    if (this.#drainable === undefined) this.#watch.broke(cause);
    else this.#leave();
  }

  /** What had come before it is read first. */
  #fail(): void {
    this.#isOver = true;
    this.#source.destroy();
    this.#connection.close();
    this.#waiter?.reject(this.#watch.failure);
    this.#waiter = undefined;
  }
}

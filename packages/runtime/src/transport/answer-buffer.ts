import type { ModelError } from "@keelson/protocol";
import type { ByteStream } from "./byte-stream.ts";
import { type Timed, unwatchDeadline, watchDeadline } from "./deadline-watch.ts";

/** Bytes that may wait for their reader before the source is paused. */
const HIGH_WATER_BYTES = 256 * 1024;
/** A rest up to this long, and this long in coming, is read away to keep the connection. */
const DRAIN_BYTES = 64 * 1024;
const DRAIN_MS = 1000;

/** What pushes into an {@link AnswerBuffer}. */
export interface ByteSource {
  pause(): void;
  resume(): void;
  /** Closes the connection. The source pushes nothing afterwards. */
  destroy(): void;
}

/** Bytes between a source that pushes and a reader that pulls: pauses the source when its reader falls behind. */
export class AnswerBuffer implements ByteStream, Timed {
  readonly #source: ByteSource;
  #chunks: Uint8Array[] = [];
  #head = 0;
  #bytes = 0;
  #paused = false;
  #ended = false;
  #failure: ModelError | undefined;
  #waiter: PromiseWithResolvers<Uint8Array | undefined> | undefined;
  #drained: number | undefined;
  /** When a rest that is read away must have come. */
  deadline: number = Number.POSITIVE_INFINITY;

  constructor(source: ByteSource) {
    this.#source = source;
  }

  push(chunk: Uint8Array): void {
    if (this.#ended) return;
    if (this.#drained !== undefined) {
      this.#drained += chunk.length;
      if (this.#drained > DRAIN_BYTES) this.close();
      return;
    }
    const waiter = this.#waiter;
    if (waiter !== undefined) {
      this.#waiter = undefined;
      waiter.resolve(chunk);
      return;
    }
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes > HIGH_WATER_BYTES && !this.#paused) {
      this.#paused = true;
      this.#source.pause();
    }
  }

  /** Nothing more comes; with a `failure`, since the answer broke off. */
  end(failure?: ModelError): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#failure = failure;
    if (this.#drained !== undefined) unwatchDeadline(this);
    if (failure === undefined) this.#waiter?.resolve(undefined);
    else this.#waiter?.reject(failure);
    this.#waiter = undefined;
  }

  poll(): Uint8Array | undefined {
    const chunk = this.#chunks[this.#head];
    if (chunk === undefined) return undefined;
    this.#head += 1;
    this.#bytes -= chunk.length;
    if (this.#head === this.#chunks.length) {
      this.#chunks = [];
      this.#head = 0;
      if (this.#paused) {
        this.#paused = false;
        if (!this.#ended) this.#source.resume();
      }
    }
    return chunk;
  }

  read(): Promise<Uint8Array | undefined> {
    const chunk = this.poll();
    if (chunk !== undefined) return Promise.resolve(chunk);
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    if (this.#ended) return Promise.resolve(undefined);
    this.#waiter = Promise.withResolvers<Uint8Array | undefined>();
    return this.#waiter.promise;
  }

  close(): void {
    this.#chunks = [];
    this.#head = 0;
    this.#bytes = 0;
    if (this.#ended) return;
    this.#source.destroy();
    this.end();
  }

  release(): void {
    this.#chunks = [];
    this.#head = 0;
    if (this.#ended || this.#drained !== undefined) return;
    this.#drained = this.#bytes;
    this.#bytes = 0;
    if (this.#drained > DRAIN_BYTES) {
      this.close();
      return;
    }
    this.deadline = performance.now() + DRAIN_MS;
    watchDeadline(this);
    if (this.#paused) {
      this.#paused = false;
      this.#source.resume();
    }
  }

  expire(): void {
    this.close();
  }
}

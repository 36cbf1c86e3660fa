import type { ByteStream, TransportResponse } from "../transport/index.ts";
import type { RateLimiter, RateLimitPermit } from "./rate-limiter.ts";
import { retryAfterMs } from "./vendor-failure.ts";

/** Without a word of the vendor's. */
const DEFAULT_PAUSE_MS = 1000;

/** A response that gives its permit back when it is over; one that says "too many" holds the others back too. */
export function limitedResponse(response: TransportResponse, limiter: RateLimiter, permit: RateLimitPermit): TransportResponse {
  if (response.status === 429) limiter.pause(retryAfterMs(response) ?? DEFAULT_PAUSE_MS);
  return { status: response.status, header: (name) => response.header(name), body: new LimitedBody(response.body, permit) };
}

class LimitedBody implements ByteStream {
  readonly #body: ByteStream;
  readonly #permit: RateLimitPermit;

  constructor(body: ByteStream, permit: RateLimitPermit) {
    this.#body = body;
    this.#permit = permit;
  }

  async read(): Promise<Uint8Array | undefined> {
    let chunk: Uint8Array | undefined;
    try {
      chunk = await this.#body.read();
    } catch (error) {
      this.#permit.release();
      throw error;
    }
    if (chunk === undefined) this.#permit.release();
    return chunk;
  }

  poll(): Uint8Array | undefined {
    return this.#body.poll();
  }

  close(): void {
    this.#permit.release();
    this.#body.close();
  }

  async release(): Promise<void> {
    this.#permit.release();
    await this.#body.release();
  }
}

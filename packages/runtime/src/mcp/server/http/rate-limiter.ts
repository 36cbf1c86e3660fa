export interface RateLimit {
  /** How many requests a client may make in a minute, in the long run. */
  readonly perMinute: number;
  /** How many it may make at once, after a rest. Default: a quarter of `perMinute`, at least 1. */
  readonly burst?: number | undefined;
}

interface Bucket {
  tokens: number;
  at: number;
}

/** As many clients are remembered at a time; one that rested as long as its bucket takes to fill is forgotten first. */
const MAX_CLIENTS = 10_000;

/** A bucket of tokens for each client. */
export class RateLimiter {
  readonly #perMs: number;
  readonly #burst: number;
  readonly #now: () => number;
  readonly #buckets = new Map<string, Bucket>();

  constructor({ perMinute, burst = Math.max(1, Math.floor(perMinute / 4)) }: RateLimit, now: () => number) {
    this.#perMs = perMinute / 60_000;
    this.#burst = burst;
    this.#now = now;
  }

  /** Takes a token. @returns 0, or after how many ms there is one */
  take(client: string): number {
    const now = this.#now();
    const known = this.#buckets.get(client);
    const tokens = known === undefined ? this.#burst : Math.min(this.#burst, known.tokens + Math.max(0, now - known.at) * this.#perMs);
    // Put last, so that the first are those that rested longest.
    this.#buckets.delete(client);
    const isLeft = tokens >= 1;
    this.#buckets.set(client, { tokens: isLeft ? tokens - 1 : tokens, at: now });
    if (this.#buckets.size > MAX_CLIENTS)
      for (const first of this.#buckets.keys()) {
        this.#buckets.delete(first);
        break;
      }
    return isLeft ? 0 : Math.ceil((1 - tokens) / this.#perMs);
  }
}

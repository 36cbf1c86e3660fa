export interface RateLimit {
  /** How many requests a client may make in a minute, in the long run. */
  readonly perMinute: number;
  /** How many it may make at once, after a rest. Default: a quarter of `perMinute`, at least 1. */
  readonly burst?: number | undefined;
}

interface Bucket {
  /** A request costs {@link COST}, and each ms gives `perMinute`: whole numbers, so that who waited as long as it was told is let through. */
  level: number;
  at: number;
}

const COST = 60_000;

/** As many clients are remembered at a time; one that rested as long as its bucket takes to fill is forgotten first. */
const MAX_CLIENTS = 10_000;

/** A bucket for each client. */
export class RateLimiter {
  readonly #perMs: number;
  readonly #fullLevel: number;
  readonly #now: () => number;
  readonly #buckets = new Map<string, Bucket>();

  constructor({ perMinute, burst = Math.max(1, Math.floor(perMinute / 4)) }: RateLimit, now: () => number) {
    this.#perMs = perMinute;
    this.#fullLevel = burst * COST;
    this.#now = now;
  }

  /** Lets a request through, or says how long to wait. @returns 0, or after how many ms one may come */
  take(client: string): number {
    const now = this.#now();
    const known = this.#buckets.get(client);
    const level =
      known === undefined ? this.#fullLevel : Math.min(this.#fullLevel, known.level + Math.max(0, now - known.at) * this.#perMs);
    // Put last, so that the first are those that rested longest.
    this.#buckets.delete(client);
    const isLeft = level >= COST;
    this.#buckets.set(client, { level: isLeft ? level - COST : level, at: now });
    if (this.#buckets.size > MAX_CLIENTS)
      for (const first of this.#buckets.keys()) {
        this.#buckets.delete(first);
        break;
      }
    return isLeft ? 0 : Math.ceil((COST - level) / this.#perMs);
  }
}

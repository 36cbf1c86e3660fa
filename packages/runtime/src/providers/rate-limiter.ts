import { ModelError } from "@keelson/protocol";
import { checkOptionNames } from "../json/option-names.ts";
import { checkMethodOptions, type MethodOptions } from "../json/check-method-options.ts";
import { BOUND_OPTION } from "../json/option-rules.ts";

const LIMITER_METHODS: MethodOptions<RateLimiter> = { acquire: [0, { tokens: BOUND_OPTION, signal: true }] };

/** Where limiters and breakers have their time from; the clock of a runner is one. */
export interface ProviderClock {
  now(): number;
  /** @returns what cancels it */
  after(ms: number, run: () => void): () => void;
}

export interface RateLimiterOptions {
  readonly requestsPerMinute?: number | undefined;
  /** Of input, as far as the size of a request tells. */
  readonly tokensPerMinute?: number | undefined;
  /** Responses under way at once. */
  readonly maxConcurrent?: number | undefined;
  /** The longest that all are held back because the vendor told one of them to wait. Then the next asks him anew. Default 60,000. */
  readonly maxPauseMs?: number | undefined;
  readonly clock?: ProviderClock | undefined;
}

/**
 * Lets requests through in the order they came, no faster than it may. Given to providers of one key, it makes concurrent runs
 * share what the vendor grants that key, and all of them wait when he told one of them to.
 */
export interface RateLimiter {
  /**
   * Resolves when the request may be sent. The permit must be released when its response is over.
   * @throws ModelError of kind `cancelled` when the signal fires first
   */
  acquire(request?: { readonly tokens?: number; readonly signal?: AbortSignal | undefined }): Promise<RateLimitPermit>;
  /** Nobody is let through for so long, or for `maxPauseMs`. */
  pause(ms: number): void;
  /** How many wait. */
  readonly waiting: number;
}

export interface RateLimitPermit {
  /** A second call does nothing. */
  release(): void;
}

/** The clock of the platform. */
export const platformClock: ProviderClock = {
  now: () => Date.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};

const MINUTE_MS = 60_000;

/** An allowance that fills up again, so much in a minute. */
class Allowance {
  readonly #perMinute: number;
  #left: number;
  #at: number;

  constructor(perMinute: number, now: number) {
    this.#perMinute = perMinute;
    this.#left = perMinute;
    this.#at = now;
  }

  /** How long until so much may be taken. What is more than a whole minute grants may go when all of it is there. */
  waitFor(amount: number, now: number): number {
    this.#left = Math.min(this.#perMinute, this.#left + ((now - this.#at) * this.#perMinute) / MINUTE_MS);
    this.#at = now;
    const lacking = Math.min(amount, this.#perMinute) - this.#left;
    // Less than a thousandth is an error of rounding.
    return lacking <= this.#perMinute / 1e6 ? 0 : Math.ceil((lacking * MINUTE_MS) / this.#perMinute);
  }

  take(amount: number): void {
    this.#left -= amount;
  }
}

interface Waiter {
  readonly tokens: number;
  go(): void;
}

export function createRateLimiter(options: RateLimiterOptions = {}): RateLimiter {
  checkOptionNames("createRateLimiter", options, {
    requestsPerMinute: true,
    tokensPerMinute: true,
    maxConcurrent: true,
    maxPauseMs: true,
    clock: true,
  });
  const {
    requestsPerMinute,
    tokensPerMinute,
    maxConcurrent = Number.POSITIVE_INFINITY,
    maxPauseMs = 60_000,
    clock = platformClock,
  } = options;
  for (const [name, value] of Object.entries({ requestsPerMinute, tokensPerMinute, maxConcurrent, maxPauseMs }))
    if (value !== undefined && !(value > 0)) throw new RangeError(`${name} must be more than zero, not ${value}`);
  const requests = requestsPerMinute === undefined ? undefined : new Allowance(requestsPerMinute, clock.now());
  const tokens = tokensPerMinute === undefined ? undefined : new Allowance(tokensPerMinute, clock.now());
  const queue: Waiter[] = [];
  let running = 0;
  let pausedUntil = 0;
  let cancelTimer: (() => void) | undefined;

  function waitOf(waiter: Waiter, now: number): number {
    return Math.max(pausedUntil - now, requests?.waitFor(1, now) ?? 0, tokens?.waitFor(waiter.tokens, now) ?? 0, 0);
  }

  function letThrough(): void {
    cancelTimer?.();
    cancelTimer = undefined;
    for (let next = queue[0]; next !== undefined && running < maxConcurrent; next = queue[0]) {
      const wait = waitOf(next, clock.now());
      if (wait > 0) {
        cancelTimer = clock.after(wait, letThrough);
        return;
      }
      queue.shift();
      requests?.take(1);
      tokens?.take(next.tokens);
      running += 1;
      next.go();
    }
  }

  function permit(): RateLimitPermit {
    let held = true;
    return {
      release() {
        if (!held) return;
        held = false;
        running -= 1;
        letThrough();
      },
    };
  }

  const limiter: RateLimiter = {
    acquire({ tokens: amount = 0, signal } = {}) {
      return new Promise((resolve, reject) => {
        const cancelled = (): void => {
          const at = queue.indexOf(waiter);
          if (at >= 0) queue.splice(at, 1);
          reject(new ModelError({ kind: "cancelled", progress: "unsent", message: "cancelled while it waited for the rate limit" }));
          letThrough();
        };
        const waiter: Waiter = {
          tokens: amount,
          go() {
            signal?.removeEventListener("abort", cancelled);
            resolve(permit());
          },
        };
        if (signal?.aborted === true) {
          cancelled();
          return;
        }
        signal?.addEventListener("abort", cancelled, { once: true });
        queue.push(waiter);
        letThrough();
      });
    },
    pause(ms) {
      pausedUntil = Math.max(pausedUntil, clock.now() + Math.min(ms, maxPauseMs));
      letThrough();
    },
    get waiting() {
      return queue.length;
    },
  };
  return checkMethodOptions("limiter", limiter, LIMITER_METHODS);
}

import type { Scope, StoredValue } from "@keelson/protocol";
import { checkOptionNames } from "../../json/option-names.ts";
import type { StoreMiddleware } from "../../middleware/store-middleware.ts";
import { scopeName } from "./state-scope.ts";
import { BOUND_OPTION, FUNCTION_OPTION } from "../../json/option-rules.ts";

export interface CacheStoreOptions {
  /** How many keys are kept; those that were read longest ago go first. Default 1,000. */
  readonly maxEntries?: number | undefined;
  /**
   * How long a value may be given out that somebody wrote past this cache: another process, or a store that is used without it. Default: for
   * ever, which is right where nobody does.
   */
  readonly maxAgeMs?: number | undefined;
  /** Unix ms. Default `Date.now`. */
  readonly now?: (() => number) | undefined;
}

interface Cached {
  readonly stored: StoredValue | undefined;
  readonly until: number;
}

/**
 * Reads from memory what was read or found missing before. Writes and deletions that go through it are seen at once, also by reads on their way. A
 * guard, since it responds in the store's place; lists and searches go to the store.
 */
export function cacheStore(options: CacheStoreOptions = {}): StoreMiddleware {
  checkOptionNames("cacheStore", options, { maxEntries: BOUND_OPTION, maxAgeMs: BOUND_OPTION, now: FUNCTION_OPTION });
  const { maxEntries = 1000, maxAgeMs = Number.POSITIVE_INFINITY, now = Date.now } = options;
  // In the order in which they were read.
  const cached = new Map<string, Cached>();
  /** Reads on their way by place: what they find is kept only where nobody has changed the place since. */
  const reading = new Map<string, Set<{ isStale: boolean }>>();

  const placeOf = (scope: Scope, key: string): string => `${scopeName(scope)}\n${key}`;
  const forget = (place: string): void => {
    cached.delete(place);
    for (const read of reading.get(place) ?? []) read.isStale = true;
  };
  /** Whatever comes of the change, and before and after it: a store may have made it and failed to say so. */
  async function changing<T>(place: string, change: () => Promise<T>): Promise<T> {
    forget(place);
    try {
      return await change();
    } finally {
      forget(place);
    }
  }
  const keep = (place: string, stored: StoredValue | undefined): void => {
    cached.delete(place);
    cached.set(place, { stored, until: Math.min(now() + maxAgeMs, stored?.expiresAt ?? Number.POSITIVE_INFINITY) });
    const [oldest] = cached.keys();
    if (cached.size > maxEntries && oldest !== undefined) cached.delete(oldest);
  };

  return {
    name: "cache-store",
    async read(scope, key, next) {
      const place = placeOf(scope, key);
      const known = cached.get(place);
      if (known !== undefined && now() < known.until) {
        cached.delete(place);
        cached.set(place, known);
        return structuredClone(known.stored);
      }
      const read = { isStale: false };
      const others = reading.get(place) ?? new Set();
      reading.set(place, others.add(read));
      try {
        const stored = await next();
        if (!read.isStale) keep(place, structuredClone(stored));
        return stored;
      } finally {
        others.delete(read);
        if (others.size === 0) reading.delete(place);
      }
    },
    write: (scope, key, _value, _options, next) => changing(placeOf(scope, key), () => next()),
    delete: (scope, key, next) => changing(placeOf(scope, key), () => next()),
  };
}

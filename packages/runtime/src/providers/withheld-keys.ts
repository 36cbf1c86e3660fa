import { ModelError, type ModelFailure } from "@keelson/protocol";
import { type Redact, redactor } from "../transport/index.ts";

/** What is shorter is no key, and may well be a part of other words. */
const LEAST_KEY_LENGTH = 8;
const MAX_KEYS = 8;
/** Failures quote the beginning of what they can't read: a key that is cut there is known by its beginning. */
const TELLING_PREFIX = 12;
const SECRET_NAME = /authorization|cookie|key|token|secret|signature|password/i;

/**
 * Keeps the keys that a client sends out of what it says when a request fails: some vendors repeat them in their errors, and errors
 * are shown and kept in logs.
 */
export class WithheldKeys {
  readonly #keys = new Set<string>();
  #redact: Redact | undefined;

  /** From now on it is not told. Of many, the newest are known. */
  add(key: string): void {
    if (key.length < LEAST_KEY_LENGTH || this.#keys.has(key)) return;
    this.#keys.add(key);
    for (const oldest of this.#keys) if (this.#keys.size > MAX_KEYS) this.#keys.delete(oldest);
    this.#redact = undefined;
  }

  /** Those among headers or parts of a query, by their names. */
  addNamed(values: Iterable<readonly [name: string, value: string]>): void {
    for (const [name, value] of values) if (SECRET_NAME.test(name)) this.add(value.replace(/^(?:Bearer|Basic)\s+/i, "").trim());
  }

  /** The same failure without keys: these, and whatever else has the shape of one. */
  redacted(error: unknown): unknown {
    if (!ModelError.is(error)) return error;
    const redact = (this.#redact ??= redactor({ secrets: [...this.#keys], patterns: [...this.#keys].flatMap(beginningOf) }));
    const failure = Object.fromEntries(
      Object.entries(error.failure).map(([name, value]) => [name, typeof value === "string" && name !== "kind" ? redact(value) : value]),
    ) as ModelFailure;
    const told = error.cause instanceof Error ? (error.cause.stack ?? error.cause.message) : "";
    const isClean = redact(told) === told;
    if (isClean && JSON.stringify(failure) === JSON.stringify(error.failure)) return error;
    return new ModelError(failure, isClean ? { cause: error.cause } : {});
  }

  /** Does it, and rejects without keys. */
  async guard<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw this.redacted(error);
    }
  }
}

function beginningOf(key: string): readonly RegExp[] {
  if (key.length < 2 * TELLING_PREFIX) return [];
  return [new RegExp(`${key.slice(0, TELLING_PREFIX).replace(/[^\w]/g, "\\$&")}[\\w.~+/=-]*`, "g")];
}

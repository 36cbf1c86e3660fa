import type { JsonValue, Scope, SearchResult, StateStore, StoreOptions } from "@keelson/protocol";
import { checkOptionNames } from "../../json/option-names.ts";
import { createMemoryStore } from "../../state/memory/memory-store.ts";
import { checkMethodOptions } from "../../json/check-method-options.ts";
import { STATE_STORE_METHODS } from "../../json/interface-methods.ts";

export interface MockStateStore extends StateStore {
  /** Every write, in order. */
  readonly writes: readonly { readonly scope: Scope; readonly key: string; readonly value: JsonValue; readonly options: StoreOptions }[];
}

export interface MockStateStoreOptions {
  readonly entries?: readonly (readonly [Scope, string, JsonValue])[] | undefined;
  /** What a search finds. Default: nothing, as in a backend without search. */
  readonly search?: ((scope: Scope, query: string) => readonly SearchResult[]) | undefined;
  /** Unix ms; decides what `ttlMs` has let expire. Default: time stands still. */
  readonly now?: (() => number) | undefined;
}

/** A state store in memory that remembers what was written to it. It goes on after its disposal, so that a test can look at it. */
export function mockStateStore(options: MockStateStoreOptions = {}): MockStateStore {
  checkOptionNames("mockStateStore", options, { entries: true, search: true, now: true });
  const { entries = [], search, now = () => 0 } = options;
  const store = createMemoryStore({ now });
  const writes: MockStateStore["writes"][number][] = [];
  const filled = Promise.all(entries.map(([scope, key, value]) => store.write(scope, key, value)));
  // Whoever uses the store is told.
  filled.catch(() => {});
  const mock: MockStateStore = {
    writes,
    async read(...request) {
      await filled;
      return store.read(...request);
    },
    async list(...request) {
      await filled;
      return store.list(...request);
    },
    search: async (scope, query, { limit = Number.POSITIVE_INFINITY } = {}) => (search?.(scope, query) ?? []).slice(0, limit),
    async write(scope, key, value, given = {}) {
      await filled;
      const version = await store.write(scope, key, value, given);
      writes.push({ scope, key, value, options: given });
      return version;
    },
    async delete(...request) {
      await filled;
      await store.delete(...request);
    },
    async [Symbol.asyncDispose]() {},
  };
  return checkMethodOptions("store", mock, STATE_STORE_METHODS);
}

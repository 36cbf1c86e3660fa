import {
  StateError,
  type JsonObject,
  type JsonValue,
  type Scope,
  type SearchResult,
  type StateStore,
  type StoreOptions,
} from "@keelson/protocol";
import { canonicalJson } from "../../json/canonical-json.ts";
import { checkOptionNames } from "../../json/option-names.ts";

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

/** A state store in memory that remembers what was written to it. */
export function mockStateStore(options: MockStateStoreOptions = {}): MockStateStore {
  checkOptionNames("mockStateStore", options, { entries: true, search: true, now: true });
  const { entries = [], search, now = () => 0 } = options;
  const scopes = new Map<string, Map<string, { value: string; version: number; expiresAt: number; metadata: JsonObject | undefined }>>();
  const writes: MockStateStore["writes"][number][] = [];
  const within = (scope: Scope) => {
    const name = canonicalJson(scope);
    let keys = scopes.get(name);
    if (keys === undefined) scopes.set(name, (keys = new Map()));
    return keys;
  };
  const live = (scope: Scope, key: string) => {
    const entry = within(scope).get(key);
    return entry !== undefined && entry.expiresAt > now() ? entry : undefined;
  };
  const put = (scope: Scope, key: string, value: JsonValue, { ifVersion, ttlMs, metadata }: StoreOptions): number => {
    const actualVersion = live(scope, key)?.version ?? 0;
    if (ifVersion !== undefined && ifVersion !== actualVersion)
      throw new StateError({ kind: "conflict", key, actualVersion, message: `"${key}" has version ${actualVersion}, not ${ifVersion}` });
    const text = JSON.stringify(value);
    if (text === undefined) throw new StateError({ kind: "serialization", message: `the value of "${key}" is no JSON` });
    within(scope).set(key, {
      value: text,
      version: actualVersion + 1,
      metadata,
      expiresAt: ttlMs === undefined ? Number.POSITIVE_INFINITY : now() + ttlMs,
    });
    return actualVersion + 1;
  };
  for (const [scope, key, value] of entries) put(scope, key, value, {});
  return {
    writes,
    async read(scope, key) {
      const entry = live(scope, key);
      return (
        entry && {
          value: JSON.parse(entry.value) as JsonValue,
          version: entry.version,
          ...(entry.metadata && { metadata: entry.metadata }),
        }
      );
    },
    async list(scope, prefix, { after, limit = Number.POSITIVE_INFINITY } = {}) {
      const keys = [...within(scope).keys()].filter(
        (key) => key.startsWith(prefix) && live(scope, key) !== undefined && (after === undefined || key > after),
      );
      return keys.sort((a, b) => (a < b ? -1 : 1)).slice(0, limit);
    },
    search: async (scope, query, { limit = Number.POSITIVE_INFINITY } = {}) => (search?.(scope, query) ?? []).slice(0, limit),
    async write(scope, key, value, options = {}) {
      const version = put(scope, key, value, options);
      writes.push({ scope, key, value, options });
      return version;
    },
    async delete(scope, key) {
      within(scope).delete(key);
    },
    async [Symbol.asyncDispose]() {},
  };
}

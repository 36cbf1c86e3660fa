import type { Scope, StateStore } from "@keelson/protocol";
import { checkOptionNames } from "../../json/option-names.ts";
import { keyRange, keysInRange } from "../kit/key-page.ts";
import { assertKey, closedStateStore, encodeWrite, isLive, planWrite, type StateEntry, storedValue } from "../kit/state-entry.ts";
import { scopeName } from "../kit/state-scope.ts";
import { createRecentUses } from "./recent-uses.ts";
import { checkMethodOptions } from "../../json/check-method-options.ts";
import { STATE_STORE_METHODS } from "../../json/interface-methods.ts";
import { BOUND_OPTION, FUNCTION_OPTION } from "../../json/option-rules.ts";

export interface MemoryStoreOptions {
  /** Unix ms. Default `Date.now`. */
  readonly now?: (() => number) | undefined;
  /** Default 16 MiB of JSON text. */
  readonly maxValueBytes?: number | undefined;
  /** The number of keys that the store holds, in all scopes. A write beyond it evicts the key that was read or written longest ago. Default: no limit. */
  readonly maxKeys?: number | undefined;
  /** The bytes of JSON text that all values and their metadata may take together. Evicts as `maxKeys` does. Default: no limit. */
  readonly maxBytes?: number | undefined;
}

/**
 * A state store that lives as long as this object. It has no search: that finds nothing. Without a limit it holds everything; with `maxKeys` or
 * `maxBytes` it is a cache that evicts the least recently used key.
 */
export function createMemoryStore(options: MemoryStoreOptions = {}): StateStore {
  checkOptionNames("createMemoryStore", options, {
    now: FUNCTION_OPTION,
    maxValueBytes: BOUND_OPTION,
    maxKeys: true,
    maxBytes: true,
  });
  const { now = Date.now, maxValueBytes } = options;
  const uses = createRecentUses(options);
  const scopes = new Map<string, Map<string, StateEntry>>();
  let isClosed = false;

  const keysOf = (scope: Scope): Map<string, StateEntry> | undefined => {
    if (isClosed) throw closedStateStore();
    return scopes.get(scopeName(scope));
  };
  /** Forgets what has expired, at every so many writes as there are keys: that costs each write the same. */
  let writesSinceSweep = 0;
  let size = 0;
  function sweep(): void {
    if (++writesSinceSweep <= size) return;
    writesSinceSweep = 0;
    size = 0;
    for (const [name, keys] of scopes) {
      for (const [key, entry] of keys)
        if (!isLive(entry, now())) {
          keys.delete(key);
          uses?.remove(name, key);
        }
      if (keys.size === 0) scopes.delete(name);
      size += keys.size;
    }
  }

  function remove(scope: string, key: string): void {
    const keys = scopes.get(scope);
    keys?.delete(key);
    if (keys?.size === 0) scopes.delete(scope);
  }

  const store: StateStore = {
    async read(scope, key) {
      assertKey(key);
      const entry = keysOf(scope)?.get(key);
      if (!isLive(entry, now())) return undefined;
      uses?.touch(scopeName(scope), key);
      return storedValue(entry);
    },
    async list(scope, prefix, page) {
      const range = keyRange(prefix, page);
      const live = [...(keysOf(scope) ?? [])].filter(([, entry]) => isLive(entry, now()));
      return keysInRange(
        live.map(([key]) => key),
        range,
      );
    },
    async search(scope) {
      keysOf(scope);
      return [];
    },
    async write(scope, key, value, writeOptions) {
      const write = encodeWrite(scope, key, value, writeOptions, maxValueBytes);
      const keys = keysOf(scope) ?? new Map<string, StateEntry>();
      const entry = planWrite(write, keys.get(key), now());
      keys.set(key, entry);
      scopes.set(write.scope, keys);
      sweep();
      for (const evicted of uses?.add(write.scope, key, entry) ?? []) remove(evicted.scope, evicted.key);
      return entry.version;
    },
    async delete(scope, key) {
      assertKey(key);
      keysOf(scope)?.delete(key);
      uses?.remove(scopeName(scope), key);
    },
    async [Symbol.asyncDispose]() {
      isClosed = true;
      scopes.clear();
    },
  };
  return checkMethodOptions("store", store, STATE_STORE_METHODS);
}

import type { Scope, StateStore } from "@keelson/protocol";
import { checkOptionNames } from "../../json/option-names.ts";
import { keyRange, keysInRange } from "../kit/key-page.ts";
import { assertKey, closedStateStore, encodeWrite, isLive, planWrite, type StateEntry, storedValue } from "../kit/state-entry.ts";
import { scopeName } from "../kit/state-scope.ts";

export interface MemoryStoreOptions {
  /** Unix ms. Default `Date.now`. */
  readonly now?: (() => number) | undefined;
  /** Default 16 MiB of JSON text. */
  readonly maxValueBytes?: number | undefined;
}

/** A state store that lives as long as this object. It has no search: that finds nothing. */
export function createMemoryStore(options: MemoryStoreOptions = {}): StateStore {
  checkOptionNames("createMemoryStore", options, { now: true, maxValueBytes: true });
  const { now = Date.now, maxValueBytes } = options;
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
      for (const [key, entry] of keys) if (!isLive(entry, now())) keys.delete(key);
      if (keys.size === 0) scopes.delete(name);
      size += keys.size;
    }
  }

  return {
    async read(scope, key) {
      assertKey(key);
      const entry = keysOf(scope)?.get(key);
      return isLive(entry, now()) ? storedValue(entry) : undefined;
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
      return entry.version;
    },
    async delete(scope, key) {
      assertKey(key);
      keysOf(scope)?.delete(key);
    },
    async [Symbol.asyncDispose]() {
      isClosed = true;
      scopes.clear();
    },
  };
}

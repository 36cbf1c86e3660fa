import { randomUUID } from "node:crypto";
import type { Embedder, StateStore } from "@keelson/protocol";
import {
  assertKey,
  closedStateStore,
  encodeWrite,
  keyRange,
  scopeName,
  searchTerms,
  storedValue,
  toStateError,
  checkMethodOptions,
  STATE_STORE_METHODS,
} from "keelson/state/kit";
import type { PostgresDatabase } from "./postgres-database.ts";
import { clockOf } from "./postgres-log-statements.ts";
import { stateEntries } from "./postgres-state-entries.ts";
import { stateSearch } from "./postgres-state-search.ts";

/**
 * What is known, in the database. Searches go by words, in their basic forms and without accents; with an embedder by meaning as well, and
 * what both find comes first.
 */
export function createPostgresStateStore(of: {
  readonly database: PostgresDatabase;
  /** Unix ms. Default: the clock of the database. */
  readonly now: (() => number) | undefined;
  readonly embedder: Embedder | undefined;
  readonly maxValueBytes: number | undefined;
}): StateStore {
  const { database, now, embedder, maxValueBytes } = of;
  const clock = clockOf(now);
  const entries = stateEntries(database, clock);
  const search = stateSearch(database, clock, embedder);
  let isClosed = false;
  const assertOpen = (): void => {
    if (isClosed) throw closedStateStore();
  };

  const store: StateStore = {
    async read(scope, key) {
      assertOpen();
      assertKey(key);
      const name = scopeName(scope);
      const found = await attempt(() => entries.read(name, key));
      return found?.isLive ? storedValue(found.entry) : undefined;
    },
    async list(scope, prefix, page) {
      assertOpen();
      const [name, range] = [scopeName(scope), keyRange(prefix, page)];
      return attempt(() => entries.list(name, range));
    },
    async search(scope, query, options) {
      assertOpen();
      const [name, terms] = [scopeName(scope), searchTerms(query, options)];
      return attempt(() => search(name, query, terms));
    },
    async write(scope, key, value, options) {
      assertOpen();
      const write = encodeWrite(scope, key, value, options, maxValueBytes);
      return attempt(() => entries.write(write, randomUUID()));
    },
    async delete(scope, key) {
      assertOpen();
      assertKey(key);
      const name = scopeName(scope);
      await attempt(() => entries.delete(name, key));
    },
    async [Symbol.asyncDispose]() {
      isClosed = true;
    },
  };
  return checkMethodOptions("store", store, STATE_STORE_METHODS);
}

async function attempt<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw toStateError(error);
  }
}

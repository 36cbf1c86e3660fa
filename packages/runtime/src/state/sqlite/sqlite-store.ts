import { type Durability, type Embedder, StateError, type StateStore } from "@keelson/protocol";
import { checkOptionNames } from "../../json/option-names.ts";
import { keyRange } from "../kit/key-page.ts";
import { searchTerms } from "../kit/search-terms.ts";
import { assertKey, closedStateStore, encodeWrite, storedValue } from "../kit/state-entry.ts";
import { scopeName } from "../kit/state-scope.ts";
import { openSqliteDatabase } from "./sqlite-database.ts";
import { BUSY_TIMEOUT_MS } from "./sqlite-file.ts";
import { deleteEntry, listKeys, putEntry, readEntry } from "./sqlite-state-entries.ts";
import { toStateError } from "../kit/state-failure.ts";
import { mergeSomeText } from "./sqlite-text-merge.ts";
import { searchEntries } from "./sqlite-state-search.ts";
import { checkMethodOptions } from "../../json/check-method-options.ts";
import { STATE_STORE_METHODS } from "../../json/interface-methods.ts";
import { BOUND_OPTION, FUNCTION_OPTION } from "../../json/option-rules.ts";

/** Each write adds a piece to the index of words. */
const WRITES_PER_MERGE = 16;

export interface SqliteStoreOptions {
  /** The database file; it and its folder are created when missing. An event log may use the same one. */
  readonly path: string;
  /** Makes searches find what means the same in other words. Its requests are made by searches, for what was written since the last. */
  readonly embedder?: Embedder | undefined;
  /** What writes ask of the disk. Default `power`. */
  readonly durability?: Durability | undefined;
  /** Unix ms. Default `Date.now`. */
  readonly now?: (() => number) | undefined;
  /** Default 16 MiB of JSON text. */
  readonly maxValueBytes?: number | undefined;
  /** How long a write keeps trying while other processes hold the lock. Default 10 s. */
  readonly busyTimeoutMs?: number | undefined;
}

/**
 * A state store in a SQLite database on a local disk, for any number of processes at once. Searches go by words (FTS5), in the words' basic
 * forms and without accents; with an embedder by meaning as well, and what both find comes first.
 * @throws StateError when the file is damaged, another program's, of a newer version, or can't be created
 */
export function createSqliteStore(pathOrOptions: string | SqliteStoreOptions): StateStore {
  const options: SqliteStoreOptions = typeof pathOrOptions === "string" ? { path: pathOrOptions } : pathOrOptions;
  checkOptionNames("createSqliteStore", options, {
    path: true,
    embedder: true,
    durability: true,
    now: FUNCTION_OPTION,
    maxValueBytes: BOUND_OPTION,
    busyTimeoutMs: BOUND_OPTION,
  });
  const { embedder, durability = "power", now = Date.now, maxValueBytes, busyTimeoutMs = BUSY_TIMEOUT_MS } = options;
  const database = attemptNow(() => openSqliteDatabase(options.path));
  let isClosed = false;
  let written = 0;
  const mergeLater = (): void => void setImmediate(() => isClosed || mergeSomeText(database, "state_text"));
  const assertOpen = (): void => {
    if (isClosed) throw closedStateStore();
  };

  const store: StateStore = {
    async read(scope, key) {
      assertOpen();
      assertKey(key);
      const name = scopeName(scope);
      const entry = attemptNow(() => database.read(() => readEntry(database, name, key, now())));
      return entry && storedValue(entry);
    },
    async list(scope, prefix, page) {
      assertOpen();
      const [name, range] = [scopeName(scope), keyRange(prefix, page)];
      return attemptNow(() => database.read(() => listKeys(database, name, range, now())));
    },
    async search(scope, query, searchOptions) {
      assertOpen();
      const [name, terms] = [scopeName(scope), searchTerms(query, searchOptions)];
      try {
        return await searchEntries({ database, embedder, now }, name, query, terms);
      } catch (error) {
        // It waits for the embedder, and goes on with nothing where the store was disposed of meanwhile.
        throw isClosed && !StateError.is(error) ? closedStateStore() : toStateError(error);
      }
    },
    async write(scope, key, value, writeOptions) {
      assertOpen();
      const write = encodeWrite(scope, key, value, writeOptions, maxValueBytes);
      const version = await attempt(() => database.write(durability, () => putEntry(database, write, now()), busyTimeoutMs));
      if (++written % WRITES_PER_MERGE === 0) mergeLater();
      return version;
    },
    async delete(scope, key) {
      assertOpen();
      assertKey(key);
      const name = scopeName(scope);
      await attempt(() => database.write(durability, () => deleteEntry(database, name, key), busyTimeoutMs));
    },
    async [Symbol.asyncDispose]() {
      if (isClosed) return;
      isClosed = true;
      if (written > 0) mergeSomeText(database, "state_text");
      database.close();
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

function attemptNow<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw toStateError(error);
  }
}

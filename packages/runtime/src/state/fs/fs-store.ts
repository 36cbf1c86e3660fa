import { type Dirent, existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { dirname, join, relative, resolve, sep } from "node:path";
import { type Scope, StateError, type StateStore } from "@keelson/protocol";
import { checkOptionNames } from "../../json/option-names.ts";
import { takeLock } from "../../platform/lock-file.ts";
import { makeFolder } from "../../platform/make-folder.ts";
import { replacePrivateFile } from "../../platform/private-file.ts";
import { keyRange, keysInRange } from "../kit/key-page.ts";
import { assertKey, closedStateStore, encodeWrite, isLive, planWrite, type StateEntry, storedValue } from "../kit/state-entry.ts";
import { readEntry, readKey } from "./entry-file.ts";
import { ENTRY_FORMATS, type EntryFormat } from "./entry-format.ts";
import { toStateError } from "./fs-failure.ts";
import { isDigestPath, keyFile, keyOfPath, scopeFolder } from "./key-path.ts";
import { mayBeLeftBehind, removeDraftsOf, removeLeftBehind, removeWithFolders } from "./left-behind.ts";
import { checkMethodOptions } from "../../json/check-method-options.ts";
import { STATE_STORE_METHODS } from "../../json/interface-methods.ts";
import { BOUND_OPTION, FUNCTION_OPTION } from "../../json/option-rules.ts";

export interface FsStoreOptions {
  /** The folder; it is created when missing. */
  readonly root: string;
  /**
   * The form of the files. `json`: an object with the value. `markdown`: text as a Markdown file that people and other programs can edit, other
   * values as a block of JSON in one. A folder holds one form only. Default: `json`.
   */
  readonly format?: "json" | "markdown" | undefined;
  /** Unix ms. Default `Date.now`. */
  readonly now?: (() => number) | undefined;
  /** Default 16 MiB of JSON text. */
  readonly maxValueBytes?: number | undefined;
  /** How long a write waits for other processes. Default 10 s. */
  readonly busyTimeoutMs?: number | undefined;
}

const LOCK = ".lock";
const IS_OF_A_STORE = /\.(?:json|md)$/;
const RETRY_MS = 5;
/** So that a store of many sessions does not grow for each. */
const MAX_TIDIED = 10_000;

/**
 * A state store in a folder: a file for each key, JSON or Markdown, in a folder for each scope, as in `session/s1/history/turn-1.json`. A write is there
 * whole or not at all, and others' writes of a scope wait for it, those of other processes too. It has no search: that finds nothing.
 */
export function createFsStore(rootOrOptions: string | FsStoreOptions): StateStore {
  const options: FsStoreOptions = typeof rootOrOptions === "string" ? { root: rootOrOptions } : rootOrOptions;
  checkOptionNames("createFsStore", options, {
    root: true,
    format: true,
    now: FUNCTION_OPTION,
    maxValueBytes: BOUND_OPTION,
    busyTimeoutMs: BOUND_OPTION,
  });
  const { now = Date.now, maxValueBytes, busyTimeoutMs = 10_000 } = options;
  if (typeof options.root !== "string" || options.root === "" || options.root.includes("\0"))
    throw new StateError({
      kind: "invalid-input",
      message: `A store of files needs the path of a folder; it got ${JSON.stringify(options.root)}.`,
    });
  const format = formatOf(options.format);
  const { extension } = format;
  const root = resolve(options.root);
  const queues = new Map<string, Promise<unknown>>();
  /** The folders in which nothing is left behind, as far as this store knows: looking for that at each write would cost as much as there are keys. */
  const tidied = new Set<string>();
  let isClosed = false;

  const folderOf = (scope: Scope): string => {
    if (isClosed) throw closedStateStore();
    return scopeFolder(root, scope);
  };

  /** Reads an entry of this store's form. A value that is there in the other form is an error, since it would be hidden. */
  async function readEntryOf(path: string): Promise<StateEntry | undefined> {
    const entry = await readEntry(path, format);
    if (entry === undefined) await refuseOtherForm(path.slice(0, -extension.length), format);
    return entry;
  }

  /** One change of a scope after the other, in this process and all others. */
  async function change<T>(folder: string, work: () => Promise<T>): Promise<T> {
    const before = queues.get(folder);
    const turn = (async () => {
      await before?.catch(() => {});
      // Who was killed while he wrote has left his lock, too.
      await using _held = await lock(folder, busyTimeoutMs, () => tidied.delete(folder));
      if (!tidied.has(folder)) {
        await removeLeftBehind(folder, await entriesBelow(folder));
        if (tidied.size >= MAX_TIDIED) tidied.clear();
        tidied.add(folder);
      }
      // Awaited here: the lock is held until it is done.
      return await work();
    })();
    queues.set(folder, turn);
    try {
      return await turn;
    } finally {
      if (queues.get(folder) === turn) queues.delete(folder);
    }
  }

  const store: StateStore = {
    async read(scope, key) {
      assertKey(key);
      const path = keyFile(folderOf(scope), key, extension);
      const entry = await attempt(path, () => readEntryOf(path));
      return isLive(entry, now()) ? storedValue(entry) : undefined;
    },
    async list(scope, prefix, page) {
      const range = keyRange(prefix, page);
      const folder = folderOf(scope);
      return attempt(folder, async () => {
        const found: string[] = [];
        const entries = await entriesBelow(folder);
        if (entries.some(mayBeLeftBehind)) await tidyIfFree(folder);
        // Whether one has expired stands in its file.
        for (const key of keysInRange(await keysAmong(entries, folder, format), { ...range, limit: Number.POSITIVE_INFINITY })) {
          if (found.length >= range.limit) break;
          if (isLive(await readEntry(keyFile(folder, key, extension), format), now())) found.push(key);
        }
        return found;
      });
    },
    async search(scope) {
      folderOf(scope);
      return [];
    },
    async write(scope, key, value, writeOptions) {
      const write = encodeWrite(scope, key, value, writeOptions, maxValueBytes);
      const folder = folderOf(scope);
      const path = keyFile(folder, key, extension);
      return attempt(path, () =>
        change(folder, async () => {
          const entry = planWrite(write, await readEntryOf(path), now());
          makeFolder(dirname(path), 0o700);
          await replacePrivateFile(path, format.write(key, entry));
          return entry.version;
        }),
      );
    },
    async delete(scope, key) {
      assertKey(key);
      const folder = folderOf(scope);
      const path = keyFile(folder, key, extension);
      await attempt(path, () =>
        change(folder, async () => {
          await removeDraftsOf(path);
          await removeWithFolders(path, folder);
        }),
      );
    },
    async [Symbol.asyncDispose]() {
      isClosed = true;
      await Promise.allSettled(queues.values());
    },
  };
  return checkMethodOptions("store", store, STATE_STORE_METHODS);
}

async function lock(folder: string, busyTimeoutMs: number, foundLeft: () => void): Promise<AsyncDisposable> {
  makeFolder(folder, 0o700);
  const deadline = performance.now() + busyTimeoutMs;
  for (;;) {
    const held = await takeLock(join(folder, LOCK), foundLeft);
    if (held !== undefined) return held;
    if (performance.now() > deadline)
      throw new StateError({
        kind: "unavailable",
        message: `Another process has held ${join(folder, LOCK)} for ${busyTimeoutMs} ms. Try again; if it goes on, look for a process that hangs.`,
      });
    const { promise, resolve: wake } = Promise.withResolvers<void>();
    setTimeout(wake, RETRY_MS * (0.5 + Math.random()));
    await promise;
  }
}

function formatOf(name: unknown = "json"): EntryFormat {
  if (name === "json" || name === "markdown") return ENTRY_FORMATS[name];
  throw new StateError({ kind: "invalid-input", message: `format is ${JSON.stringify(name)}: use "json" or "markdown".` });
}

/**
 * Rejects if a file of this name holds a value in the other form. Files that are not of a store are ignored.
 * @param base the path without its extension
 */
async function refuseOtherForm(base: string, { name }: EntryFormat): Promise<void> {
  const other = ENTRY_FORMATS[name === "json" ? "markdown" : "json"];
  const path = base + other.extension;
  if (!existsSync(path) || (await readKey(path, other).catch(() => undefined)) === undefined) return;
  throw new StateError({
    kind: "invalid-input",
    message: `${path} holds a value as ${other.name}, and this store was opened for ${name}. Open it with format "${other.name}", or move the values to another folder.`,
  });
}

async function keysAmong(entries: readonly Dirent[], folder: string, format: EntryFormat): Promise<readonly string[]> {
  const keys: string[] = [];
  for (const entry of entries) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const below = relative(folder, path).replaceAll(sep, "/");
    if (!below.endsWith(format.extension)) {
      if (IS_OF_A_STORE.test(below)) await refuseOtherForm(path.replace(IS_OF_A_STORE, ""), format);
      continue;
    }
    const key = isDigestPath(below) ? await readKey(path, format) : keyOfPath(below, format.extension);
    if (key !== undefined) keys.push(key);
  }
  return keys;
}

/** What is being written now is left to its writers, and a folder that may not be changed is left as it is: who lists only wants to read. */
async function tidyIfFree(folder: string): Promise<void> {
  try {
    await using held = await takeLock(join(folder, LOCK));
    if (held !== undefined) await removeLeftBehind(folder, await entriesBelow(folder));
  } catch {
    // The next write says what is wrong.
  }
}

async function entriesBelow(folder: string): Promise<readonly Dirent[]> {
  for (;;) {
    try {
      return await readdir(folder, { withFileTypes: true, recursive: true });
    } catch (error) {
      const { code, path } = error as NodeJS.ErrnoException;
      if (code !== "ENOENT") throw error;
      if (path === folder) return [];
      // A folder in it went away meanwhile, with the last key that was in there.
    }
  }
}

async function attempt<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw toStateError(error, path);
  }
}

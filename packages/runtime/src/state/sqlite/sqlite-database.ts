import { resolve } from "node:path";
import type { DatabaseSync, StatementResultingChanges, StatementSync } from "node:sqlite";
import { type Durability, LogError } from "@keelson/protocol";
import { prepareNumbered } from "./numbered-parameters.ts";
import { Epochs } from "./sqlite-epochs.ts";
import { damaged, isBusy, isSqlError, toLogError } from "./sqlite-failure.ts";
import { BUSY_TIMEOUT_MS, connect, identifyFile, RETRY_DELAY_MS } from "./sqlite-file.ts";

/**
 * One connection to a database file, shared by all stores of this process that use the file. Writes take effect in the
 * order in which they were asked for.
 */
export interface SqliteDatabase {
  readonly path: string;
  readonly connection: DatabaseSync;
  prepare(sql: string): StatementSync;
  readonly epochs: Epochs;
  /** Runs `work` in one transaction, or not at all. It may run again when the lock was taken; rejects with `LogError`. */
  write<T>(durability: Durability, work: () => T, busyTimeoutMs?: number): Promise<T>;
  /**
   * Runs one statement that is a transaction by itself. @returns what it changed; nothing where it changed nothing, and where it has to
   * wait for others or fails, so that `write` decides what comes of it.
   */
  tryWrite(
    durability: Durability,
    statement: StatementSync,
    ...values: readonly (string | number | null)[]
  ): StatementResultingChanges | undefined;
  /** Runs statements that change nothing. @throws LogError */
  read<T>(work: () => T): T;
  /** A number that changes with every commit of another connection. */
  foreignVersion(): number;
  /** Calls `wake` when this process has changed that log. */
  listen(log: string, wake: () => void): () => void;
  wake(log: string): void;
  /** Gives this use back; the last one closes the file. */
  close(): void;
}

const shared = new Map<string, SharedDatabase>();

/**
 * Opens or creates the file, for its owner's eyes only, in write-ahead mode.
 * @throws LogError `corrupt` for a damaged file, `invalid-input` for one of another program or of a newer version
 */
export function openSqliteDatabase(path: string): SqliteDatabase {
  if (typeof path !== "string" || path.length === 0 || path.includes("\0"))
    throw new LogError({ kind: "invalid-input", message: `A database needs the path of a file; it got ${JSON.stringify(path)}.` });
  const file = path === ":memory:" ? path : resolve(path);
  let identity: string | undefined;
  try {
    identity = file === ":memory:" ? undefined : identifyFile(file);
  } catch (cause) {
    if (LogError.is(cause)) throw cause;
    throw new LogError(
      {
        kind: "other",
        message: `The database ${file} can't be opened for writing: ${(cause as Error).message}. Check the permissions of the file and its folder, or choose another path.`,
      },
      { cause },
    );
  }
  let database = identity === undefined ? undefined : shared.get(identity);
  if (database === undefined) {
    database = new SharedDatabase(file, connect(file), () => identity !== undefined && shared.delete(identity));
    if (identity !== undefined) shared.set(identity, database);
  }
  return database.use();
}

interface PendingWrite {
  readonly deadline: number;
  run(): void;
  fail(error: unknown): void;
}

class SharedDatabase implements SqliteDatabase {
  readonly path: string;
  readonly connection: DatabaseSync;
  readonly epochs: Epochs = new Epochs((sql) => this.prepare(sql));
  readonly #onClose: () => void;
  readonly #statements = new Map<string, StatementSync>();
  readonly #listeners = new Map<string, Set<() => void>>();
  readonly #pending: PendingWrite[] = [];
  #retry: NodeJS.Timeout | undefined;
  #uses = 0;
  /** What `PRAGMA synchronous` is set to: FULL syncs the write-ahead log at each commit, NORMAL only at checkpoints. */
  #durability: Durability | undefined;
  #knownVersion: unknown;
  readonly #begin: StatementSync;
  readonly #commit: StatementSync;
  readonly #rollback: StatementSync;
  readonly #dataVersion: StatementSync;

  constructor(path: string, connection: DatabaseSync, onClose: () => void) {
    this.path = path;
    this.connection = connection;
    this.#onClose = onClose;
    this.#begin = connection.prepare("BEGIN IMMEDIATE");
    this.#commit = connection.prepare("COMMIT");
    this.#rollback = connection.prepare("ROLLBACK");
    this.#dataVersion = connection.prepare("PRAGMA data_version");
  }

  use(): SqliteDatabase {
    this.#uses += 1;
    return this;
  }

  close(): void {
    this.#uses -= 1;
    if (this.#uses > 0) return;
    this.#onClose();
    clearTimeout(this.#retry);
    for (const { fail } of this.#pending.splice(0))
      fail(
        new LogError({
          kind: "closed",
          message: `The database ${this.path} was closed before a write that waited for its lock. Wait for writes before disposing.`,
        }),
      );
    this.connection.close();
  }

  prepare(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      try {
        statement = prepareNumbered(this.connection, sql);
      } catch (cause) {
        // Our statements fit the schema that was written: one that doesn't is not the one we wrote.
        throw isSqlError(cause) ? damaged(this.path, (cause as Error).message, cause) : toLogError(cause, this.path);
      }
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  write<T>(durability: Durability, work: () => T, busyTimeoutMs: number = BUSY_TIMEOUT_MS): Promise<T> {
    if (this.#pending.length === 0) {
      try {
        return Promise.resolve(this.#transact(durability, work));
      } catch (error) {
        if (!isBusy(error)) return Promise.reject(toLogError(error, this.path) as Error);
      }
    }
    return new Promise((resolve, reject) => {
      this.#pending.push({
        deadline: performance.now() + busyTimeoutMs,
        run: () => resolve(this.#transact(durability, work)),
        fail: (error) => reject(toLogError(error, this.path) as Error),
      });
      this.#retryLater();
    });
  }

  tryWrite(
    durability: Durability,
    statement: StatementSync,
    ...values: readonly (string | number | null)[]
  ): StatementResultingChanges | undefined {
    if (this.#pending.length > 0) return undefined;
    try {
      this.#synchronize(durability);
      const changed = statement.run(...values);
      return changed.changes === 0 ? undefined : changed;
    } catch {
      return undefined;
    }
  }

  read<T>(work: () => T): T {
    const deadline = performance.now() + BUSY_TIMEOUT_MS;
    for (;;) {
      try {
        return work();
      } catch (error) {
        // Readers wait for nobody but a process that opens the file after a crash or closes it as the last one.
        if (!isBusy(error) || performance.now() > deadline) throw toLogError(error, this.path);
      }
    }
  }

  foreignVersion(): number {
    return this.read(() => this.#dataVersion.get()?.["data_version"] as number);
  }

  listen(log: string, wake: () => void): () => void {
    let listeners = this.#listeners.get(log);
    if (listeners === undefined) this.#listeners.set(log, (listeners = new Set()));
    listeners.add(wake);
    return () => {
      listeners.delete(wake);
      if (listeners.size === 0 && this.#listeners.get(log) === listeners) this.#listeners.delete(log);
    };
  }

  wake(log: string): void {
    const listeners = this.#listeners.get(log);
    if (listeners !== undefined) for (const wake of listeners) wake();
  }

  #transact<T>(durability: Durability, work: () => T): T {
    this.#synchronize(durability);
    this.#begin.run();
    const { last } = this.epochs;
    try {
      const version = this.#dataVersion.get()?.["data_version"];
      if (version !== this.#knownVersion) {
        this.#knownVersion = version;
        this.epochs.drop();
      }
      const result = work();
      this.#commit.run();
      return result;
    } catch (error) {
      if (this.epochs.last !== last) this.epochs.drop();
      // A full disk or a damaged page may have rolled back already.
      if (this.connection.isTransaction) this.#rollback.run();
      throw error;
    }
  }

  #synchronize(durability: Durability): void {
    if (this.#durability === durability) return;
    this.connection.exec(durability === "power" ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL");
    this.#durability = durability;
  }

  #retryLater(): void {
    this.#retry ??= setTimeout(
      () => {
        this.#retry = undefined;
        this.#runPending();
      },
      RETRY_DELAY_MS * (0.5 + Math.random()),
    );
  }

  #runPending(): void {
    for (let write = this.#pending[0]; write !== undefined; write = this.#pending[0]) {
      try {
        write.run();
      } catch (error) {
        if (isBusy(error) && performance.now() < write.deadline) {
          this.#retryLater();
          return;
        }
        write.fail(error);
      }
      this.#pending.shift();
    }
  }
}

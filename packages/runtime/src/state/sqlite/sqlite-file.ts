import { randomUUID } from "node:crypto";
import { accessSync, closeSync, constants, copyFileSync, linkSync, openSync, rmSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { LogError } from "@keelson/protocol";
import { makeFolder } from "../../platform/make-folder.ts";
import { nodeSqlite } from "../../platform/node-sqlite.ts";
import { damaged, isBusy, toLogError } from "./sqlite-failure.ts";
import { migrate, schemaVersionOf } from "./sqlite-schema.ts";

/** How long a call keeps trying while other processes hold the write lock. */
export const BUSY_TIMEOUT_MS = 10_000;
/** SQLite's own wait blocks the event loop; what lasts longer is waited for with timers. */
const BLOCKING_WAIT_MS = 50;
export const RETRY_DELAY_MS = 5;

/** A database has at least one page, and a page at least so many bytes (https://www.sqlite.org/fileformat2.html#pages). */
const SMALLEST_PAGE = 512;

/** Names the file by device and inode, so that two paths to one file share a connection; creates it when it is missing. */
export function identifyFile(file: string): string {
  let info = statSync(file, { throwIfNoEntry: false });
  if (info === undefined) {
    create(file);
    info = statSync(file);
  }
  // An existing file is never opened here: closing it would drop the locks that SQLite holds on it in this process.
  if (!info.isFile()) throw new LogError({ kind: "invalid-input", message: `${file} is not a file. Give the path of a database file.` });
  // SQLite opens what it can't write to for reading, and would fail at the first append only.
  accessSync(file, constants.R_OK | constants.W_OK);
  if (info.size === 0) {
    // SQLite makes a new database of an empty file, and would delete the write-ahead log with everything that was committed.
    const left = [`${file}-wal`, `${file}-journal`].find((path) => (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0);
    if (left !== undefined) throw damaged(file, `it is empty, but ${left} is not`);
  } else if (info.size < SMALLEST_PAGE) throw damaged(file, `it has only ${info.size} bytes`);
  return `${info.dev}:${info.ino}`;
}

/** The file appears at its path with its schema or not at all, whoever is killed or creates it at the same time. */
function create(file: string): void {
  makeFolder(dirname(resolve(file)), 0o700);
  const draft = `${file}.${process.pid}-${randomUUID()}.new`;
  closeSync(openSync(draft, "wx", 0o600));
  try {
    connect(draft).close();
    putInPlace(draft, file);
  } finally {
    rmSync(draft, { force: true });
  }
}

function putInPlace(draft: string, file: string): void {
  try {
    linkSync(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return;
    // A file system without hard links.
    try {
      copyFileSync(draft, file, constants.COPYFILE_EXCL);
    } catch (copyError) {
      if ((copyError as NodeJS.ErrnoException).code !== "EEXIST") throw copyError;
    }
  }
}

/** Opens a file that is there, or one that is only in memory, in write-ahead mode. @throws LogError */
export function connect(file: string): DatabaseSync {
  const { DatabaseSync: Connection } = nodeSqlite();
  let connection: DatabaseSync | undefined;
  const deadline = performance.now() + BUSY_TIMEOUT_MS;
  for (;;) {
    try {
      if (connection === undefined) {
        // Node's permission model allows none.
        const allowExtension = process.permission === undefined;
        connection = new Connection(file, { timeout: BLOCKING_WAIT_MS, allowExtension });
        // Only what compares vectors is ever loaded, and allowed only while that happens.
        if (allowExtension) connection.enableLoadExtension(false);
      }
      setUp(connection, file);
      return connection;
    } catch (error) {
      if (isBusy(error) && performance.now() < deadline) {
        // Others are creating or closing the file. Opening is synchronous, and so is this rare wait.
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_DELAY_MS);
        continue;
      }
      connection?.close();
      throw toLogError(error, file);
    }
  }
}

function setUp(connection: DatabaseSync, file: string): void {
  connection.exec("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON");
  // Refused files stay as they are: nothing is written before the version is known.
  schemaVersionOf(connection, file);
  const mode = connection.prepare("PRAGMA journal_mode = WAL").get()?.["journal_mode"];
  if (mode !== "wal" && file !== ":memory:") {
    throw new LogError({
      kind: "other",
      message: `The database ${file} can't use a write-ahead log (its mode stays "${String(mode)}"). Put it on a local disk: network file systems lack what that needs.`,
    });
  }
  migrate(connection, file);
  connection.exec("PRAGMA journal_size_limit = 67108864");
}

import { LogError } from "@keelson/protocol";

/** Primary result codes of https://www.sqlite.org/rescode.html; the low byte of an extended code. */
const ERROR = 1;
const BUSY = 5;
const LOCKED = 6;
const READONLY = 8;
const IOERR = 10;
const CORRUPT = 11;
const FULL = 13;
const CANTOPEN = 14;
const PROTOCOL = 15;
const NOTADB = 26;
/** The index of the write-ahead log could not grow. */
const IOERR_SHMSIZE = 4874;

/** Others hold a lock just now; the same call may succeed a moment later. */
export function isBusy(error: unknown): boolean {
  const code = codeOf(error);
  return code !== undefined && ((code & 0xff) === BUSY || (code & 0xff) === LOCKED || (code & 0xff) === PROTOCOL);
}

/** What a failure of SQLite means to a caller of the log. A `LogError` stays what it is. */
export function toLogError(cause: unknown, path: string): unknown {
  const code = codeOf(cause);
  if (code === undefined) return cause;
  const reason = (cause as Error).message;
  switch (code === IOERR_SHMSIZE ? FULL : code & 0xff) {
    case BUSY:
    case LOCKED:
    case PROTOCOL:
      return new LogError(
        {
          kind: "unavailable",
          message: `The database ${path} stayed locked by other processes: ${reason}. Try again; if it goes on, look for a process that hangs.`,
        },
        { cause },
      );
    case FULL:
      return new LogError(
        {
          kind: "full",
          message: `There is no space left for the database ${path}: ${reason}. Nothing of this append was kept. Free space on its disk and try again.`,
        },
        { cause },
      );
    case CORRUPT:
    case NOTADB:
      return damaged(path, reason, cause);
    case READONLY:
    case CANTOPEN:
      return new LogError(
        {
          kind: "other",
          message: `The database ${path} can't be opened for writing: ${reason}. Check the permissions of the file, of its -wal and -shm files and of their folder.`,
        },
        { cause },
      );
    case IOERR:
      return new LogError(
        { kind: "unavailable", message: `Reading or writing the database ${path} failed: ${reason}. Check the disk it lies on.` },
        { cause },
      );
    default:
      return new LogError({ kind: "other", message: `The database ${path} failed: ${reason}.` }, { cause });
  }
}

/** A statement that SQLite does not understand: no such table, no such column. */
export function isSqlError(error: unknown): boolean {
  return codeOf(error) === ERROR;
}

/** The file is not what it should be. It is left alone: what it still holds may be worth saving. */
export function damaged(path: string, reason: string, cause?: unknown): LogError {
  return new LogError(
    {
      kind: "corrupt",
      log: path,
      message: `The database ${path} is damaged: ${reason}. It was left as it is. Restore it from a backup, or save what is readable with \`sqlite3 "${path}" .recover\`; to start empty, move it away together with its -wal and -shm files.`,
    },
    cause === undefined ? undefined : { cause },
  );
}

function codeOf(error: unknown): number | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code, errcode } = error as { readonly code?: unknown; readonly errcode?: unknown };
  return code === "ERR_SQLITE_ERROR" && typeof errcode === "number" ? errcode : undefined;
}

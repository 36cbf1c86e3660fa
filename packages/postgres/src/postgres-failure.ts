import { LogError } from "@keelson/protocol";

/** Errors of the drivers and of the system, which say that the server was not reached, or that its connection broke. */
const UNREACHED: ReadonlySet<string> = new Set([
  "CONNECTION_CLOSED",
  "CONNECTION_ENDED",
  "CONNECTION_DESTROYED",
  "CONNECT_TIMEOUT",
  "CONNECTION_CONNECT_TIMEOUT",
  "ECONNREFUSED",
  "ECONNRESET",
  "ECONNABORTED",
  "EPIPE",
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "EAI_AGAIN",
  "ENOTFOUND",
  "ENOENT",
]);

/** What `pg` says without a code. */
const UNREACHED_WORDS =
  /Connection terminated|connection timeout|timeout exceeded when trying to connect|Client has encountered a connection error|not queryable/i;

/** SQLSTATE codes (https://www.postgresql.org/docs/current/errcodes-appendix.html) after which the same statement may succeed. */
const PASSING: ReadonlySet<string> = new Set([
  "40001", // serialization_failure
  "40P01", // deadlock_detected
  "55P03", // lock_not_available
  "25P03", // idle_in_transaction_session_timeout
  "25P04", // transaction_timeout
  "53300", // too_many_connections
  "57P01", // admin_shutdown
  "57P02", // crash_shutdown
  "57P03", // cannot_connect_now
  "57P05", // idle_session_timeout
]);

const UNIQUE_VIOLATION = "23505";

/** Whether the server was not reached, broke off, or could not just now: the same call may succeed a moment later. */
export function isPassing(error: unknown): boolean {
  const code = codeOf(error);
  if (code !== undefined) return UNREACHED.has(code) || PASSING.has(code) || code.startsWith("08");
  return error instanceof Error && UNREACHED_WORDS.test(error.message);
}

/** A row with this key is there already. */
export function isTaken(error: unknown): boolean {
  return codeOf(error) === UNIQUE_VIOLATION;
}

/** What a failure of PostgreSQL means to a caller. A `LogError` stays what it is. @param where names the database */
export function toLogError(cause: unknown, where: string): unknown {
  if (LogError.is(cause) || !(cause instanceof Error)) return cause;
  const { message: reason } = cause;
  const code = codeOf(cause) ?? "";
  const as = (kind: "unavailable" | "full" | "other" | "invalid-input", message: string): LogError =>
    new LogError({ kind, message }, { cause });
  if (isPassing(cause))
    return as(
      "unavailable",
      `${where} could not be reached, or broke off: ${reason || code}. Look whether the server runs and takes connections, then try again.`,
    );
  if (code === "28P01" || code === "28000")
    return as(
      "other",
      `${where} refused to let us in: ${reason}. Check user and password of the connection string, and pg_hba.conf of the server.`,
    );
  if (code === "3D000")
    return as("other", `${where} is not there: ${reason}. Create the database, or give another one in the connection string.`);
  if (code === "42501")
    return as(
      "other",
      `${where} did not permit it: ${reason}. Grant its user the right to create the schema and to use it, or create it as somebody who may (see docs/guides/postgres.md).`,
    );
  if (code === "25006")
    return as("unavailable", `${where} takes no writes: ${reason}. It is a standby, or was set to read only: connect to the primary.`);
  if (code === "53100")
    return as(
      "full",
      `There is no space left for ${where}: ${reason}. Nothing of this call was kept. Free space on its disk and try again.`,
    );
  if (code === "57014")
    return as("unavailable", `${where} broke a statement off: ${reason}. Try again; if it goes on, raise statement_timeout for this user.`);
  if (code.startsWith("53"))
    return as("unavailable", `${where} has too little left of something: ${reason}. Try again later, or give the server more.`);
  if (code === "XX001" || code === "XX002")
    return new LogError({ kind: "corrupt", log: where, message: `${where} is damaged: ${reason}. Restore it from a backup.` }, { cause });
  if (code === "42P01" || code === "42703" || code === "3F000")
    return new LogError(
      {
        kind: "corrupt",
        log: where,
        message: `${where} lacks a table of ours: ${reason}. Somebody changed the schema: restore it from a backup, or drop the schema to start empty.`,
      },
      { cause },
    );
  if (code.startsWith("58"))
    return as("unavailable", `The machine of ${where} failed: ${reason}. Look at its disk and at the log of the server.`);
  return as("other", `${where} failed: ${reason}.`);
}

function codeOf(error: unknown): string | undefined {
  const code = error instanceof Error ? (error as { readonly code?: unknown }).code : undefined;
  return typeof code === "string" && code !== "" ? code : undefined;
}

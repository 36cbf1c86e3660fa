import { LogError, type LogId, type LogRecord } from "@keelson/protocol";
import type { Row } from "./connection/connection.ts";
import { nameIn } from "./stored-name.ts";

/** @throws LogError `corrupt` */
export function recordIn({ seq, at, key, type, data }: Row, log: LogId, where: string): LogRecord {
  try {
    const value: unknown = JSON.parse(String(data));
    if (typeof value !== "object" || value === null) throw new Error("it is no JSON object");
    return { seq: Number(seq), at: Number(at), key: nameIn(String(key)), type: nameIn(String(type)), data: value as LogRecord["data"] };
  } catch (cause) {
    throw damagedLog(log, where, Number(seq), `the data of record ${String(seq)} can't be read: ${(cause as Error).message}`, cause);
  }
}

export function damagedLog(log: LogId, where: string, seq: number, reason: string, cause?: unknown): LogError {
  const message = `Log "${log}" in ${where} is damaged: ${reason}. What stands before it is intact. Restore the database from a backup, or fork the log before that record.`;
  return new LogError({ kind: "corrupt", log, seq, message }, cause === undefined ? undefined : { cause });
}

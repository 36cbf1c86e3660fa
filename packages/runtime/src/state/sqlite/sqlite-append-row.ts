import { type JsonObject, LogError, type LogId, type LogRecord, type NewRecord } from "@keelson/protocol";
import { encodeRecords } from "../kit/encoded-record.ts";

/**
 * The records of one append, as they lie in the database. One row for all of them costs half of a row and an index entry for each;
 * it is written, read and damaged as a whole.
 */
export interface AppendRow {
  /** Of its first record. */
  readonly seq: number;
  /** Unix ms. */
  readonly at: number;
  /** A JSON list: the key and the type of each record, one after the other. */
  readonly names: string;
  /** A JSON list: the data of each record. */
  readonly data: string;
}

/** Longer data are put into a row for each record, so that a reader never has to hold many large ones. */
const LONGEST_SHARED_DATA = 1024 * 1024;

/** The rows of an append whose data are `text`. */
export function rowsOf(
  log: LogId,
  records: readonly NewRecord[],
  text: string,
  maxRecordBytes: number,
): readonly { readonly records: readonly NewRecord[]; readonly names: string; readonly data: string }[] {
  if (text.length <= LONGEST_SHARED_DATA || records.length === 1) return [{ records, names: namesOf(records), data: text }];
  const each = encodeRecords(log, records, maxRecordBytes);
  return records.map((record, index) => ({ records: [record], names: namesOf([record]), data: `[${each[index] as string}]` }));
}

function namesOf(records: readonly NewRecord[]): string {
  const names: string[] = [];
  for (const { key, type } of records) names.push(key, type);
  return JSON.stringify(names);
}

/** @throws LogError `corrupt` */
export function namesIn({ seq, names }: Pick<AppendRow, "seq" | "names">, log: LogId, path: string): readonly string[] {
  const list = parseList(names);
  if (list?.length === 0 || list?.every((name) => typeof name === "string") !== true || list.length % 2 !== 0)
    throw damagedRow(log, path, seq, `the names of record ${seq} and those appended with it are no JSON list`);
  return list as readonly string[];
}

/** @throws LogError `corrupt` */
export function recordsIn(row: AppendRow, log: LogId, path: string): readonly LogRecord[] {
  const names = namesIn(row, log, path);
  const data = parseList(row.data);
  if (data?.length !== names.length / 2)
    throw damagedRow(
      log,
      path,
      row.seq,
      `the data of record ${row.seq} and those appended with it are no JSON list of ${names.length / 2}`,
    );
  return data.map((each, index) => ({
    seq: row.seq + index,
    at: row.at,
    key: names[2 * index] as string,
    type: names[2 * index + 1] as string,
    data: each as JsonObject,
  }));
}

/** What the last append said of its log. A damaged one says nothing: whoever wants to know reads the log. */
export function summaryIn(text: unknown): JsonObject | undefined {
  if (typeof text !== "string") return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}

export function damagedRow(log: LogId, path: string, seq: number, reason: string): LogError {
  const message = `Log "${log}" in ${path} is damaged: ${reason}. What stands before it is intact. Restore the file from a backup, or fork the log before that record.`;
  return new LogError({ kind: "corrupt", log, seq, message });
}

function parseList(text: string): readonly unknown[] | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

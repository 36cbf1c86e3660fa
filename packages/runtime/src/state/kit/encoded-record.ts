import { type JsonObject, LogError, type LogId, type NewRecord } from "@keelson/protocol";

/** What one record may hold. Larger values belong into the blob store. */
export const MAX_RECORD_BYTES: number = 64 * 1024 * 1024;

/** The data of each record as JSON text. @throws LogError `invalid-input` or `too-large`, naming the record; nothing was kept then. */
export function encodeRecords(log: LogId, records: readonly NewRecord[], maxRecordBytes: number): string[] {
  plainData(log, records);
  return records.map((record) => encodeData(log, record, maxRecordBytes));
}

/** What an append says of its log, as JSON text. @throws as {@link encodeRecords} */
export function encodeSummary(log: LogId, summary: JsonObject | undefined, maxRecordBytes: number): string | undefined {
  return summary === undefined ? undefined : encodeObject(log, "The summary", summary, maxRecordBytes);
}

/** The data of all records as one JSON list. @throws as {@link encodeRecords} */
export function encodeTogether(log: LogId, records: readonly NewRecord[], maxRecordBytes: number): string {
  const text = textOf(plainData(log, records));
  if (text !== undefined && text.length * 3 <= maxRecordBytes) return text;
  // Each for itself is slower, and says which of them is wrong.
  return `[${records.map((record) => encodeData(log, record, maxRecordBytes)).join(",")}]`;
}

/** Holds the names of all records against the rules. @returns their data, where all of it is plain */
function plainData(log: LogId, records: readonly NewRecord[]): readonly object[] | undefined {
  const keys = new Set<string>();
  let list: object[] | undefined = [];
  for (const { key, type, data } of records) {
    assertName(key, "The key of a record", log);
    assertName(type, "The type of a record", log);
    if (keys.size === keys.add(key).size)
      throw invalid(`The key "${key}" occurs twice in one append to log "${log}"; a key names one act.`);
    if (isPlain(data)) list?.push(data);
    else list = undefined;
  }
  return list;
}

/** Whether its JSON, if it has any, is that of an object. */
function isPlain(data: object): boolean {
  return typeof data === "object" && data !== null && Object.getPrototypeOf(data) === Object.prototype && !("toJSON" in data);
}

function textOf(data: readonly object[] | undefined): string | undefined {
  try {
    return JSON.stringify(data);
  } catch {
    return undefined;
  }
}

/** @throws LogError `invalid-input` unless `name` is a well-formed string with at least one character. */
export function assertName(name: unknown, what: string, log?: LogId): asserts name is string {
  if (typeof name === "string" && name.length > 0 && name.isWellFormed()) return;
  throw invalid(
    `${what}${log === undefined ? "" : ` for log "${log}"`} must be a well-formed string, not empty; it is ${typeof name === "string" ? JSON.stringify(name) : typeof name}.`,
  );
}

function encodeData(log: LogId, { key, data }: NewRecord, maxRecordBytes: number): string {
  return encodeObject(log, `The data of record "${key}"`, data, maxRecordBytes);
}

function encodeObject(log: LogId, what: string, data: JsonObject, maxRecordBytes: number): string {
  if (typeof data !== "object" || data === null)
    throw invalid(`${what} for log "${log}" must be a JSON object; it is ${data === null ? "null" : typeof data}.`);
  let text: string | undefined;
  try {
    text = JSON.stringify(data);
  } catch (cause) {
    throw invalid(`${what} for log "${log}" is no JSON: ${(cause as Error).message}`, cause);
  }
  if (text === undefined || text.charCodeAt(0) !== OPENING_BRACE) throw invalid(`${what} for log "${log}" must be a JSON object.`);
  // A UTF-16 code unit takes at most three bytes, so that most records need no counting.
  if (text.length * 3 > maxRecordBytes) {
    const actualBytes = Buffer.byteLength(text);
    if (actualBytes > maxRecordBytes) {
      throw new LogError({
        kind: "too-large",
        limitBytes: maxRecordBytes,
        actualBytes,
        message: `${what} for log "${log}" has ${actualBytes} bytes, over the limit of ${maxRecordBytes}. Put large values into the blob store and record their digest.`,
      });
    }
  }
  return text;
}

const OPENING_BRACE = 123;

function invalid(message: string, cause?: unknown): LogError {
  return new LogError({ kind: "invalid-input", message }, cause === undefined ? undefined : { cause });
}

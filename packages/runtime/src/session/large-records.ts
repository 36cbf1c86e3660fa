import { LogError, type BlobStore, type Digest, type JsonObject, type JsonValue, type LogRecord } from "@keelson/protocol";

/** Records whose data is larger are kept as a blob, with this much standing in the log in its place. */
export const MAX_RECORD_BYTES: number = 64 * 1024;
const PREVIEW_CHARS = 256;
const MARK = "~blob";

/** The data as the log keeps it. */
export function spillLargeData(data: JsonObject, blobs: BlobStore): JsonObject | Promise<JsonObject> {
  if (!exceeds(data, MAX_RECORD_BYTES)) return data;
  const text = JSON.stringify(data);
  const bytes = new TextEncoder().encode(text);
  if (bytes.length <= MAX_RECORD_BYTES) return data;
  return blobs.put(bytes).then((digest) => ({ [MARK]: digest, length: bytes.length, preview: text.slice(0, PREVIEW_CHARS) }));
}

/** The record as it was written. */
export async function restoreLargeRecord(record: LogRecord, blobs: BlobStore): Promise<LogRecord> {
  const digest = record.data[MARK];
  if (typeof digest !== "string") return record;
  const bytes = await blobs.get(digest as Digest);
  try {
    return { ...record, data: JSON.parse(new TextDecoder().decode(bytes)) as JsonObject };
  } catch (cause) {
    throw new LogError(
      {
        kind: "corrupt",
        log: record.key,
        seq: record.seq,
        message: `blob ${digest} of record ${record.seq} is no JSON: restore the blob store from a backup`,
      },
      { cause },
    );
  }
}

/** Whether the value's text is surely or possibly longer; counts UTF-8 at its widest, so it never says no wrongly. */
function exceeds(value: JsonValue | undefined, limit: number): boolean {
  let left = limit;
  const walk = (part: JsonValue | undefined): boolean => {
    if (typeof part === "string") left -= part.length * 3 + 2;
    else if (Array.isArray(part)) {
      left -= 2;
      for (const item of part) if (walk(item)) return true;
    } else if (typeof part === "object" && part !== null) {
      left -= 2;
      for (const key in part) {
        left -= key.length + 4;
        if (walk((part as JsonObject)[key])) return true;
      }
    } else left -= 8;
    return left < 0;
  };
  return walk(value);
}

import { LogError, type BlobStore, type Digest, type JsonObject, type LogRecord, type NewRecord } from "@keelson/protocol";

/** Records whose data is larger are kept as a blob, with this much standing in the log in its place. */
export const MAX_RECORD_BYTES: number = 64 * 1024;
const PREVIEW_CHARS = 256;
const MARK = "~blob";

/** The data as the log keeps it. */
export async function spillLargeData(data: JsonObject, blobs: BlobStore): Promise<JsonObject> {
  const text = JSON.stringify(data);
  // A UTF-16 unit takes at most three bytes, so that most records need no counting.
  if (text.length * 3 <= MAX_RECORD_BYTES) return data;
  const bytes = new TextEncoder().encode(text);
  if (bytes.length <= MAX_RECORD_BYTES) return data;
  return { [MARK]: await blobs.put(bytes), length: bytes.length, preview: text.slice(0, PREVIEW_CHARS) };
}

/** What the log is given of records. */
export function spillLargeRecords(records: readonly LogRecord[], blobs: BlobStore): Promise<readonly NewRecord[]> {
  return Promise.all(records.map(async ({ key, type, data }) => ({ key, type, data: await spillLargeData(data, blobs) })));
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

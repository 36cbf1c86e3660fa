import type { BlobStore, Digest, EventLog, JsonValue, LogId } from "@keelson/protocol";
import { restoreLargeRecord } from "../large-records.ts";
import { snapshotBlobs } from "../snapshots/snapshot.ts";

const DIGEST = /sha256:[0-9a-f]{64}/g;

/** The blobs that the records of a log refer to, wherever in them a digest stands, each once. Rejects with `LogError` where they can't be read. */
export async function* referencedBlobs(log: EventLog, blobs: BlobStore, id: LogId): AsyncGenerator<Digest> {
  const seen = new Set<Digest>();
  for await (const record of log.read(id)) {
    if (record.type === "snapshot" && typeof record.data["state"] === "string") {
      yield* snapshotBlobs(blobs, record.data, seen);
      continue;
    }
    const whole = await restoreLargeRecord(record, blobs);
    for (const data of whole === record ? [record.data] : [record.data, whole.data])
      for (const digest of digestsIn(data)) if (seen.size !== seen.add(digest).size) yield digest;
  }
}

/** Those in names of members, too. */
export function* digestsIn(value: JsonValue | undefined): Generator<Digest> {
  if (typeof value === "string") {
    if (value.includes("sha256:")) for (const [digest] of value.matchAll(DIGEST)) yield digest as Digest;
  } else if (Array.isArray(value)) {
    for (const item of value as readonly JsonValue[]) yield* digestsIn(item);
  } else if (typeof value === "object" && value !== null) {
    for (const [name, member] of Object.entries(value)) {
      yield* digestsIn(name);
      yield* digestsIn(member as JsonValue);
    }
  }
}

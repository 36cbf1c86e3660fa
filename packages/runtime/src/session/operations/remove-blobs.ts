import { LogError, sessionOf, type BlobStore, type Digest, type EventLog, type LogId, type LogInfo } from "@keelson/protocol";
import { importedAt, listedMetadata } from "../session-summary.ts";
import { referencedBlobs } from "./referenced-blobs.ts";

/** What became of the blobs of sessions that are deleted. */
export interface RemovedBlobs {
  /** How many are gone. */
  readonly removed: number;
  /** Why others are left, where they may be needed still. */
  readonly left?: string;
}

/**
 * Removes the blobs that these logs refer to and no other log does. What somebody may be about to refer to stays: what was put since the
 * last record of these logs or their import, or since a session began in which a run is at work. It reads every log of the store, unless these refer to none.
 */
export async function removeBlobs(log: EventLog, blobs: BlobStore, deleted: ReadonlySet<LogId>): Promise<RemovedBlobs> {
  if (blobs.delete === undefined) return { removed: 0 };
  const { candidates, newest } = await blobsOfAll(log, blobs, deleted);
  if (candidates.size === 0) return { removed: 0 };
  let putUpTo = newest;
  try {
    for await (const info of allLogs(log)) {
      if (deleted.has(info.log)) continue;
      putUpTo = Math.min(putUpTo, firstPendingPut(info));
      for await (const digest of referencedBlobs(log, blobs, info.log)) candidates.delete(digest);
      if (candidates.size === 0) return { removed: 0 };
    }
  } catch (error) {
    // A log that can't be read may refer to any of them.
    if (!LogError.is(error) || error.retryable || LogError.is(error, "closed")) throw error;
    return { removed: 0, left: `${candidates.size} blobs were left, as it is not known whether others need them: ${error.message}` };
  }
  let removed = 0;
  for (const digest of candidates) if (await blobs.delete(digest, { putUpTo })) removed++;
  const kept = candidates.size - removed;
  return { removed, ...(kept > 0 && { left: `${kept} blobs were left, as somebody who is at work may be about to refer to them.` }) };
}

/** As far as the logs can be read: what a damaged one refers to behind the damage stays. */
async function blobsOfAll(
  log: EventLog,
  blobs: BlobStore,
  ids: ReadonlySet<LogId>,
): Promise<{ readonly candidates: Set<Digest>; readonly newest: number }> {
  const candidates = new Set<Digest>();
  let newest = 0;
  for (const id of ids) {
    try {
      for await (const digest of referencedBlobs(log, blobs, id)) candidates.add(digest);
    } catch (error) {
      if (!LogError.is(error) || error.retryable || LogError.is(error, "closed")) throw error;
    }
    const [info] = await log.list({ prefix: id, limit: 1 });
    if (info?.log === id) newest = Math.max(newest, info.updatedAt, importedAt(info) ?? 0);
  }
  return { candidates, newest };
}

/** Of a log whose writer may have put a blob and not referred to it yet: when that can have been at the earliest, less one. */
function firstPendingPut(info: LogInfo): number {
  const session = sessionOf(info.log);
  if (session === undefined) return Number.POSITIVE_INFINITY;
  const status = info.summary?.["status"];
  if (status === "ended" || status === "suspended") return Number.POSITIVE_INFINITY;
  const metadata = listedMetadata(session, info);
  // Left by an earlier version: nobody knows when it began, nor whether somebody works on it.
  if (metadata === undefined) return 0;
  return status === undefined ? Number.POSITIVE_INFINITY : metadata.createdAt - 1;
}

async function* allLogs(log: EventLog): AsyncGenerator<LogInfo> {
  for (let after: string | undefined; ;) {
    const page = await log.list({ limit: 500, ...(after !== undefined && { after }) });
    yield* page;
    after = page.at(-1)?.log;
    if (page.length < 500) return;
  }
}

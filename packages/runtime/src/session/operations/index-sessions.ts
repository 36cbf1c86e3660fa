import type { LogIndex, UnindexedRecords } from "@keelson/protocol";
import { isOfOneSession } from "../log-failure.ts";
import { restoreLargeRecord } from "../large-records.ts";
import { recordText } from "../record-text.ts";
import type { Search } from "./session-search.ts";

/** So many appends are seen to in one transaction. */
const APPENDS_AT_ONCE = 32;

/** Has the index know of records that came without what they are found by, as an earlier version and imports leave them. @returns whether it knows all */
export async function bringUpToDate({ services, maxRecords, signal }: Search, index: LogIndex): Promise<boolean> {
  for (let left = maxRecords; ;) {
    const found = await index.unindexed(APPENDS_AT_ONCE);
    if (found.length === 0) return true;
    for (const records of found) {
      signal?.throwIfAborted();
      if (left <= 0) return false;
      await index.add(records, await textsOf(services, records));
      left -= records.upTo - records.after;
    }
  }
}

/** What can't be read is found by nothing. */
async function textsOf({ log, blobs }: Search["services"], { log: id, after, upTo }: UnindexedRecords) {
  const texts: { readonly seq: number; readonly text: string }[] = [];
  try {
    for await (const stored of log.read(id, { after })) {
      texts.push({ seq: stored.seq, text: recordText(await restoreLargeRecord(stored, blobs).catch(() => stored)) });
      if (stored.seq >= upTo) break;
    }
  } catch (error) {
    if (!isOfOneSession(error)) throw error;
  }
  return texts;
}

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { sessionLog, snapshotLog, type BlobStore, type EventLog, type SessionId } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { foldFromSnapshot, foldSession, foldWhole } from "../../src/session/fold-session.ts";
import { sessionLogs } from "../../src/session/session-logs.ts";
import { writeSnapshot } from "../../src/session/snapshots/snapshot.ts";
import { createMemoryBlobStore, createMemoryEventLog } from "../../src/state/index.ts";
import { restoreRecords } from "./saved-records.ts";

const fixtures = join(import.meta.dirname, "fixtures");

interface Store {
  readonly log: EventLog;
  readonly blobs: BlobStore;
}

async function restored(version: string): Promise<Store> {
  let at = 0;
  const blobs = createMemoryBlobStore();
  const log = { ...createMemoryEventLog({ now: () => at }), blobs };
  await restoreRecords(readFileSync(join(fixtures, version, "records.jsonl"), "utf8"), log, (time) => void (at = time));
  return { log, blobs };
}

/** Opens a session again after each of its records, and writes a snapshot each time. */
async function snapshotEachRecord({ log, blobs }: Store, session: SessionId): Promise<number> {
  let written = 0;
  for await (const { seq, key } of log.read(sessionLog(session))) {
    const { state, snapshot } = await foldFromSnapshot(log, blobs, session, seq);
    expect(snapshot?.seq ?? 0).toBe(seq - 1);
    await writeSnapshot(log, blobs, state, key, snapshot);
    written++;
  }
  return written;
}

describe.each(readdirSync(fixtures))("sessions of version %s", (version) => {
  it("fold to the same from a snapshot at any record as from their beginning", async () => {
    const store = await restored(version);
    const { log, blobs } = store;
    let snapshots = 0;
    for await (const { session } of sessionLogs(log)) {
      const whole = await foldSession(log, blobs, session);
      snapshots += await snapshotEachRecord(store, session);
      const { state, snapshot } = await foldFromSnapshot(log, blobs, session);
      expect(snapshot?.seq).toBe(whole.seq);
      expect(state.conversation.messages).toEqual(whole.conversation.messages);
      // Of the ends of turns it holds the last; who goes back further reads the log.
      const turnsBefore = Math.max(0, whole.turnBorders.length - 1);
      const turnBorders = whole.turnBorders.slice(turnsBefore);
      expect(state).toEqual({ ...whole, conversation: state.conversation, turnBorders, turnsBefore });
      expect(await foldWhole(log, blobs, session)).toEqual(whole);
      // Who deletes the snapshots loses nothing.
      await log.delete(snapshotLog(session));
      expect((await foldFromSnapshot(log, blobs, session)).snapshot).toBeUndefined();
    }
    expect(snapshots).toBeGreaterThan(500);
  });
});

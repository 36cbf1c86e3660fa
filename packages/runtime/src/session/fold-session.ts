import { LogError, sessionLog, type BlobStore, type EventLog, type SessionId } from "@keelson/protocol";
import { applyRecord } from "./apply-record.ts";
import { restoreLargeRecord } from "./large-records.ts";
import { isRecordOf } from "./record-data.ts";
import { emptySession, forkedSession, type SessionState } from "./session-state.ts";
import { readSnapshot, type SnapshotPlace } from "./snapshots/snapshot.ts";

/** A state on its way to where a log ends. */
interface Folding {
  state: SessionState;
  /** The last record that was folded since the snapshot. */
  key?: string;
  /** What it began with. */
  snapshot?: SnapshotPlace;
}

/**
 * Folds a session's log into its state, from the newest snapshot on. An unknown session folds to an empty one; a fork begins with
 * its parent's history.
 */
export async function foldSession(
  log: EventLog,
  blobs: BlobStore,
  session: SessionId,
  upTo: number = Number.POSITIVE_INFINITY,
): Promise<SessionState> {
  return (await foldFromSnapshot(log, blobs, session, upTo)).state;
}

/** {@link foldSession} from its beginning: with the ends of all turns, which snapshots do not hold. */
export async function foldWhole(
  log: EventLog,
  blobs: BlobStore,
  session: SessionId,
  upTo: number = Number.POSITIVE_INFINITY,
): Promise<SessionState> {
  const reached: Folding = { state: emptySession(session) };
  await foldRecords(log, blobs, session, upTo, reached, foldWhole);
  return reached.state;
}

/** {@link foldSession}, with where the snapshot stands that it began with. */
export async function foldFromSnapshot(
  log: EventLog,
  blobs: BlobStore,
  session: SessionId,
  upTo: number = Number.POSITIVE_INFINITY,
): Promise<Readonly<Folding>> {
  const reached: Folding = { state: emptySession(session) };
  await fold(log, blobs, session, upTo, reached);
  return reached;
}

/** What of a session's log can be read, and why no more of it. */
export async function foldReadable(
  log: EventLog,
  blobs: BlobStore,
  session: SessionId,
): Promise<{ readonly state: SessionState; readonly damage?: unknown }> {
  const reached: Folding = { state: emptySession(session) };
  try {
    await fold(log, blobs, session, Number.POSITIVE_INFINITY, reached);
    return { state: reached.state };
  } catch (damage) {
    return { state: reached.state, damage };
  }
}

async function fold(log: EventLog, blobs: BlobStore, session: SessionId, upTo: number, reached: Folding): Promise<void> {
  if (upTo === 0) return;
  const snapshot = await readSnapshot(log, blobs, session);
  if (snapshot !== undefined && snapshot.place.seq <= upTo) {
    reached.state = snapshot.state;
    reached.snapshot = snapshot.place;
  }
  await foldRecords(log, blobs, session, upTo, reached, foldSession);
}

/** Goes on folding where a state stands. @param foldUpTo how the session is folded that this one is a fork of */
async function foldRecords(
  log: EventLog,
  blobs: BlobStore,
  session: SessionId,
  upTo: number,
  reached: Folding,
  foldUpTo: typeof foldSession,
): Promise<void> {
  if (reached.state.seq >= upTo) return;
  for await (const stored of log.read(sessionLog(session), { after: reached.state.seq })) {
    const record = await restoreLargeRecord(stored, blobs);
    const parent = isRecordOf(record, "session-create") ? record.data.parent : undefined;
    if (parent) reached.state = forkedSession(session, await foldParent(log, blobs, session, parent, foldUpTo));
    // It goes back to the end of a turn that is not known here.
    if (isRecordOf(record, "session-rewind") && record.data.turns <= reached.state.turnsBefore && reached.state.turnsBefore > 0)
      reached.state = await foldWhole(log, blobs, session, record.seq - 1);
    try {
      applyRecord(reached.state, record);
    } catch (cause) {
      throw new LogError(
        {
          kind: "corrupt",
          log: sessionLog(session),
          seq: record.seq,
          message: `Record ${record.seq} (${record.type}) of session "${session}" makes no sense: restore the log from a backup, or start another session.`,
        },
        { cause },
      );
    }
    reached.key = record.key;
    if (record.seq >= upTo) break;
  }
}

async function foldParent(
  log: EventLog,
  blobs: BlobStore,
  session: SessionId,
  parent: NonNullable<SessionState["parent"]>,
  foldUpTo: typeof foldSession,
): Promise<SessionState> {
  const state = await foldUpTo(log, blobs, parent.session, parent.seq);
  if (state.seq >= parent.seq) return state;
  throw new LogError({
    kind: "corrupt",
    log: sessionLog(session),
    message: `Session "${session}" is a fork of "${parent.session}" at record ${parent.seq}, of which there are ${state.seq}: restore that session from a backup.`,
  });
}

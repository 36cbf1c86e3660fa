import { LogError, sessionLog, type BlobStore, type EventLog, type SessionId } from "@keelson/protocol";
import { applyRecord } from "./apply-record.ts";
import { restoreLargeRecord } from "./large-records.ts";
import { isRecordOf } from "./record-data.ts";
import { emptySession, forkedSession, type SessionState } from "./session-state.ts";

/** Folds a session's log into its state. An unknown session folds to an empty one; a fork begins with its parent's history. */
export async function foldSession(
  log: EventLog,
  blobs: BlobStore,
  session: SessionId,
  upTo: number = Number.POSITIVE_INFINITY,
): Promise<SessionState> {
  const reached = { state: emptySession(session) };
  await fold(log, blobs, session, upTo, reached);
  return reached.state;
}

/** What of a session's log can be read, and why no more of it. */
export async function foldReadable(
  log: EventLog,
  blobs: BlobStore,
  session: SessionId,
): Promise<{ readonly state: SessionState; readonly damage?: unknown }> {
  const reached = { state: emptySession(session) };
  try {
    await fold(log, blobs, session, Number.POSITIVE_INFINITY, reached);
    return reached;
  } catch (damage) {
    return { ...reached, damage };
  }
}

async function fold(log: EventLog, blobs: BlobStore, session: SessionId, upTo: number, reached: { state: SessionState }): Promise<void> {
  if (upTo === 0) return;
  for await (const stored of log.read(sessionLog(session))) {
    const record = await restoreLargeRecord(stored, blobs);
    const parent = isRecordOf(record, "session-create") ? record.data.parent : undefined;
    if (parent) reached.state = forkedSession(session, await foldParent(log, blobs, session, parent));
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
    if (record.seq >= upTo) break;
  }
}

async function foldParent(
  log: EventLog,
  blobs: BlobStore,
  session: SessionId,
  parent: NonNullable<SessionState["parent"]>,
): Promise<SessionState> {
  const state = await foldSession(log, blobs, parent.session, parent.seq);
  if (state.seq >= parent.seq) return state;
  throw new LogError({
    kind: "corrupt",
    log: sessionLog(session),
    message: `Session "${session}" is a fork of "${parent.session}" at record ${parent.seq}, of which there are ${state.seq}: restore that session from a backup.`,
  });
}

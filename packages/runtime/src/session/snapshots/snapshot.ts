import {
  sessionLog,
  snapshotLog,
  type BlobStore,
  type Digest,
  type EventLog,
  type JsonObject,
  type LogRecord,
  type SessionId,
} from "@keelson/protocol";
import { Conversation } from "../../context/conversation.ts";
import type { SessionState, TurnBorder } from "../session-state.ts";
import { pieceSince, readPieces, writePiece, type Piece, type PiecesEnd } from "./conversation-pieces.ts";
import { fromBytes, toBytes } from "./snapshot-bytes.ts";

/**
 * Which state a fold makes of a log. It grows with every change of `SessionState` or of what a fold keeps in it: a snapshot of
 * another version is not read, and the log is folded from its beginning.
 */
export const FOLD_VERSION = 9;

/** A snapshot is due once so many records stand behind the newest. */
export const RECORDS_PER_SNAPSHOT = 500;

/** What the log of snapshots holds. */
type SnapshotData = {
  readonly fold: number;
  /** The record up to which it holds. */
  readonly seq: number;
  readonly key: string;
  readonly state: Digest;
};

/** A state but for what pieces hold of it, and for the ends of turns before the last: who goes back further reads the log. */
type Rest = Omit<SessionState, "conversation" | "turnBorders"> & { readonly lastBorder: TurnBorder | undefined };

interface StoredState {
  /** {@link Rest} */
  readonly rest: Uint8Array;
  readonly pieces: Omit<PiecesEnd, "revision">;
}

/** Where the newest snapshot stands. */
export interface SnapshotPlace {
  readonly seq: number;
  readonly pieces: PiecesEnd;
}

/**
 * Writes a snapshot of a state of which every record is in the log.
 * @param key of the last record
 * @param place where the one before it stands
 */
export async function writeSnapshot(
  log: EventLog,
  blobs: BlobStore,
  state: SessionState,
  key: string,
  place: SnapshotPlace | undefined,
): Promise<SnapshotPlace> {
  // All of it now: while it is written, the session may go on.
  const { seq } = state;
  const { conversation: _conversation, turnBorders, ...plain } = state;
  const piece = pieceSince(state.conversation, place?.pieces);
  const lastBorder = turnBorders.at(-1);
  const turnsBefore = Math.max(0, state.turnsBefore + turnBorders.length - 1);
  const rest: Rest = { ...plain, turnsBefore, lastBorder };
  const bytes = toBytes(rest);
  const pieces = await writePiece(blobs, piece);
  const { revision: _revision, ...stored } = pieces;
  const data: SnapshotData = {
    fold: FOLD_VERSION,
    seq,
    key,
    state: await blobs.put(toBytes({ rest: bytes, pieces: stored } satisfies StoredState)),
  };
  await log.append(snapshotLog(state.id), "any", [{ key: `${FOLD_VERSION}/${seq}/${data.state}`, type: "snapshot", data }]);
  return { seq, pieces };
}

/**
 * The state at the newest snapshot, and where it stands; nothing where there is none that this version can read, or where it
 * speaks of another log than the one that is there. A snapshot is never needed: without it the log is folded from its beginning.
 */
export async function readSnapshot(
  log: EventLog,
  blobs: BlobStore,
  session: SessionId,
): Promise<{ readonly state: SessionState; readonly place: SnapshotPlace } | undefined> {
  const newest = await recordAt(log, snapshotLog(session), await log.head(snapshotLog(session)));
  const data = newest?.data as SnapshotData | undefined;
  if (data?.fold !== FOLD_VERSION) return undefined;
  if ((await recordAt(log, sessionLog(session), data.seq))?.key !== data.key) return undefined;
  try {
    const { rest, pieces } = fromBytes<StoredState>(await blobs.get(data.state));
    const { lastBorder, ...plain } = fromBytes<Rest>(rest);
    const conversation = new Conversation();
    for (const piece of await readPieces(blobs, pieces.last))
      for (const { message, policy } of piece.messages) conversation.append(message, policy);
    const state: SessionState = { ...plain, conversation, turnBorders: lastBorder === undefined ? [] : [lastBorder] };
    return { state, place: { seq: data.seq, pieces: { ...pieces, revision: conversation.revision } } };
  } catch {
    // Lost or damaged: the log has it all.
    return undefined;
  }
}

/**
 * The blobs that a snapshot is made of, as far as they can be read. What is in `seen` is not given again.
 * @param data of its record
 */
export async function* snapshotBlobs(blobs: BlobStore, data: JsonObject, seen: Set<Digest>): AsyncGenerator<Digest> {
  const { state } = data as SnapshotData;
  if (seen.size === seen.add(state).size) return;
  yield state;
  try {
    const { pieces } = fromBytes<StoredState>(await blobs.get(state));
    for (let digest = pieces.last; digest !== undefined && seen.size !== seen.add(digest).size;) {
      yield digest;
      digest = fromBytes<Piece>(await blobs.get(digest)).previous;
    }
  } catch {
    // Lost or damaged: nobody needs it, nor what it refers to.
  }
}

async function recordAt(log: EventLog, id: Parameters<EventLog["read"]>[0], seq: number): Promise<LogRecord | undefined> {
  if (seq === 0) return undefined;
  for await (const record of log.read(id, { after: seq - 1 })) return record;
  return undefined;
}

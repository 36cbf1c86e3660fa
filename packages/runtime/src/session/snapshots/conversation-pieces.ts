import type { BlobStore, CompactionPolicy, Digest, Message } from "@keelson/protocol";
import { fromBytes, toBytes } from "./snapshot-bytes.ts";
import type { SessionState, TurnBorder } from "../session-state.ts";

/** What a session gained between two snapshots. It refers to what was there before, so that nothing is written twice. */
export interface Piece {
  readonly previous: Digest | undefined;
  readonly messages: readonly { readonly message: Message; readonly policy?: CompactionPolicy }[];
  readonly borders: readonly TurnBorder[];
}

/** Up to where pieces hold the conversation and the ends of its turns. */
export interface PiecesEnd {
  readonly last: Digest | undefined;
  readonly messages: number;
  readonly borders: number;
  /** {@link Conversation.revision} there: pieces say nothing of a conversation that was replaced since. */
  readonly revision: number;
}

/** What was added since `end`: all of a conversation that was replaced since. */
export function pieceSince({ conversation, turnBorders }: SessionState, end: PiecesEnd | undefined): PieceToWrite {
  const { revision } = conversation;
  const from = end?.revision === revision ? end : { last: undefined, messages: 0, borders: 0 };
  // The last end of a turn may still change: plugins write their state after it.
  const borders = Math.max(from.borders, turnBorders.length - 1);
  return {
    piece: {
      previous: from.last,
      messages: conversation.entriesFrom(from.messages),
      borders: turnBorders.slice(from.borders, borders),
    },
    end: { messages: conversation.length, borders, revision },
  };
}

export interface PieceToWrite {
  readonly piece: Piece;
  readonly end: Omit<PiecesEnd, "last">;
}

export async function writePiece(blobs: BlobStore, { piece, end }: PieceToWrite): Promise<PiecesEnd> {
  const isEmpty = piece.messages.length === 0 && piece.borders.length === 0;
  return { ...end, last: isEmpty ? piece.previous : await blobs.put(toBytes(piece)) };
}

/** All pieces, oldest first. */
export async function readPieces(blobs: BlobStore, last: Digest | undefined): Promise<readonly Piece[]> {
  const pieces: Piece[] = [];
  for (let digest = last; digest !== undefined;) {
    const piece = fromBytes<Piece>(await blobs.get(digest));
    pieces.push(piece);
    digest = piece.previous;
  }
  return pieces.toReversed();
}

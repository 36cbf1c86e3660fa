import type { BlobStore, CompactionPolicy, Digest, Message } from "@keelson/protocol";
import { fromBytes, toBytes } from "./snapshot-bytes.ts";
import type { Conversation } from "../../context/conversation.ts";

/** What a conversation gained between two snapshots. It refers to what was there before, so that nothing is written twice. */
export interface Piece {
  readonly previous: Digest | undefined;
  readonly messages: readonly { readonly message: Message; readonly policy?: CompactionPolicy }[];
}

/** Up to where pieces hold a conversation. */
export interface PiecesEnd {
  readonly last: Digest | undefined;
  readonly messages: number;
  /** {@link Conversation.revision} there: pieces say nothing of a conversation that was replaced since. */
  readonly revision: number;
}

/** What was added since `end`: all of a conversation that was replaced since. */
export function pieceSince(conversation: Conversation, end: PiecesEnd | undefined): PieceToWrite {
  const { revision } = conversation;
  const from = end?.revision === revision ? end : { last: undefined, messages: 0 };
  return {
    piece: { previous: from.last, messages: conversation.entriesFrom(from.messages) },
    end: { messages: conversation.length, revision },
  };
}

export interface PieceToWrite {
  readonly piece: Piece;
  readonly end: Omit<PiecesEnd, "last">;
}

export async function writePiece(blobs: BlobStore, { piece, end }: PieceToWrite): Promise<PiecesEnd> {
  return { ...end, last: piece.messages.length === 0 ? piece.previous : await blobs.put(toBytes(piece)) };
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

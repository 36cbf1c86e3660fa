import type { LogRecord, SessionId } from "@keelson/protocol";
import { snippetAround } from "../../state/kit/searchable-text.ts";
import { recordText } from "../record-text.ts";
import type { SessionsOptions } from "../sessions-options.ts";

/** A record that holds all the words. */
export interface SessionHit {
  readonly session: SessionId;
  /** Its record: `messagesAt` shows what stood there, `fork` goes on from there. */
  readonly seq: number;
  /** Unix ms. */
  readonly at: number;
  /** The type of the record, as in "message" or "tool-result". */
  readonly type: string;
  /** What stands around the words. */
  readonly snippet: string;
  /** From 0 to 1; hits of other searches can't be compared. */
  readonly score: number;
}

export interface SessionSearch {
  /** Best first. */
  readonly hits: readonly SessionHit[];
  /** How they were found: the log has no index, or an encrypted one, where records were read. */
  readonly by: "index" | "reading";
  /** Absent where all was searched. Else what was not, and what to do about it. */
  readonly incomplete?: string;
}

/** What both ways of searching go by. */
export interface Search {
  readonly services: Pick<SessionsOptions, "log" | "blobs">;
  readonly query: string;
  readonly words: readonly string[];
  readonly limit: number;
  readonly session: SessionId | undefined;
  readonly children: boolean;
  readonly maxRecords: number;
  readonly signal: AbortSignal | undefined;
}

/** What is told of a record that was found. */
export function hitOf({ words }: Search, session: SessionId, record: LogRecord, score: number): SessionHit {
  const { seq, at, type } = record;
  return { session, seq, at, type, snippet: snippetAround(recordText(record), words), score };
}

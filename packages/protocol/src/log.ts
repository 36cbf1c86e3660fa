import type { BudgetLedger } from "./budget.ts";
import type { Digest, LogId } from "./ids.ts";
import type { JsonObject } from "./json.ts";
import type { StateStore } from "./state.ts";

/** What a writer appends. `key` names the act: it is unique within its log, so that a repeated append is recognised. */
export interface NewRecord {
  readonly key: string;
  readonly type: string;
  readonly data: JsonObject;
}

export interface LogRecord extends NewRecord {
  /** Its place in the log, from 1, without gaps. */
  readonly seq: number;
  /** Unix ms, set by the log at append; never smaller than that of the record before it, whatever the clock does. */
  readonly at: number;
}

/**
 * Who may write. `epoch` grows with every new holder and is never used twice, not even after the log was deleted; an append
 * with another one than the holder's is refused. An expired lease still writes until somebody takes it over. Disposing
 * it releases it.
 */
export interface Lease extends AsyncDisposable {
  readonly log: LogId;
  readonly epoch: number;
  readonly owner: string;
  /** Whether the holder before did not give it back: its process died, or it was silent for too long. */
  readonly tookOver: boolean;
  /** Lets it end `ttlMs` from now. Rejects with `LogError` of kind `stale-epoch` when another holder has taken over or it was released. */
  renew(): Promise<void>;
  /** Gives the right back; its epoch writes no more. Without effect when another holder has taken over. */
  release(): Promise<void>;
}

/** `power`: on disk when the append resolves. `process`: handed to the operating system, so that it survives this process. */
export type Durability = "power" | "process";

export interface AppendOptions {
  /** Of the lease this writer holds. Without one an append is not fenced, only checked by `expectedSeq` and keys. */
  readonly epoch?: number | undefined;
  /** Default `process`. */
  readonly durability?: Durability | undefined;
  /** What `list` tells of the log from now on, so that nobody has to read the log to show it in a list. Without one it tells nothing. */
  readonly summary?: JsonObject | undefined;
  /**
   * What each of the records is found by, in their order; "" for one that is not. For a log with an `index`, others leave them. A log that
   * changes what it passes on, such as one that encrypts, passes on none.
   */
  readonly texts?: readonly string[] | undefined;
  /**
   * Unix ms: since when the records stand, where they are copied from another log. Default now. It may not be before the last record that is there,
   * which else counts. A log that goes by its own clock alone says so by what the append resolves to.
   */
  readonly at?: number | undefined;
}

/** Where and since when the last of the records of an append stands, whether this append or an earlier one put it there. */
export interface Appended {
  /** The head, for an append of no records. */
  readonly seq: number;
  /** Unix ms; 0 where the log holds nothing. */
  readonly at: number;
}

/**
 * Append-only logs. The contract:
 * - an append is all or nothing, and what it resolved is read by every later `read`;
 * - appends of one process take effect in the order in which they were called;
 * - `expectedSeq` is the seq of the last record the writer knows (0: empty). If others stand there, it rejects with
 *   `conflict`; if exactly these keys stand at these places, it resolves (an acknowledgement was lost). A key that stands
 *   at another place of the log is a `conflict`, too;
 * - `"any"` takes the next free places; a key that is already in the log stays where it is when type and data are equal,
 *   and the append rejects with `conflict` when they are not;
 * - an `epoch` that is not the holder's rejects with `stale-epoch`, whatever else the log holds;
 * - an append of no records changes no record: it checks epoch and `expectedSeq`, and resolves to the head;
 * - a `summary` is kept with the records that it came with, all or nothing, and lasts until the next append that adds a record:
 *   without a summary that one takes it away. An append of no records keeps its summary where the log has a record, and without
 *   one leaves what is there. An append that finds all its records in the log changes none;
 * - records are given away: the caller does not change them afterwards, and a reader's changes reach nobody;
 * - ids, keys and types are well-formed strings, not empty; a key occurs once in an append (else `invalid-input`);
 * - after disposal everything rejects with `closed`, readers that wait included, and leases taken here are released;
 * - failures reject with `LogError`.
 */
export interface EventLog extends AsyncDisposable {
  /** Where large values go that live with this log, if it keeps such: they end with it. */
  readonly blobs?: BlobStore;
  /** Where budgets are counted by all who work on this log, if it keeps such. */
  readonly ledger?: BudgetLedger;
  /** Where what is known is kept that lives with this log, if it keeps such. */
  readonly state?: StateStore;
  /** What finds records of sessions by their words, if it keeps such. */
  readonly index?: LogIndex;
  append(log: LogId, expectedSeq: number | "any", records: readonly NewRecord[], options?: AppendOptions): Promise<Appended>;
  /**
   * Records after `after` (default 0), in order; none of a log that is not there. With `follow` it waits for more (and for
   * the log to come) until `signal` fires, which ends it, or the reader leaves. Without, `signal` rejects with its reason,
   * since a part must not pass for the whole. A reader whose log is deleted gets `not-found`.
   */
  read(
    log: LogId,
    options?: { readonly after?: number; readonly follow?: boolean; readonly signal?: AbortSignal },
  ): AsyncIterable<LogRecord>;
  /** Seq of the last record; 0 when there is none. */
  head(log: LogId): Promise<number>;
  /** Logs with at least one record, by id in ascending order of code points. `after` is the last id of the page before. */
  list(options?: { readonly prefix?: string; readonly after?: string; readonly limit?: number }): Promise<readonly LogInfo[]>;
  /** Deletes the log, its lease and nothing else. Deleting a missing log is no error. */
  delete(log: LogId): Promise<void>;
  /**
   * Keeps older records in less space: compressed, in segments of some hundred, each made whole or not at all. Nothing changes by it that anybody
   * reads, appends or lists, so it needs no lease, and others go on meanwhile, deletion included. The newest append stays as it is, and so does
   * what is too little for a segment. Repeated, it seals nothing more; of a missing log it seals nothing. `signal` rejects with its reason
   * between two segments, and those that are made stay. A log without this keeps all records as they came.
   */
  seal?(log: LogId, options: SealOptions): Promise<Sealed>;
  /**
   * Takes the right to write. Rejects with `lease-held` while another live owner holds it; an owner that is known to be
   * dead, or whose lease expired, is replaced. The same owner may acquire again (and gets a new epoch).
   */
  acquire(log: LogId, options: { readonly owner: string; readonly ttlMs: number }): Promise<Lease>;
}

export interface SealOptions {
  /** Records up to, not including, this seq; one beyond the head stands for all. A whole number from 1, else `invalid-input`. */
  readonly before: number;
  readonly signal?: AbortSignal | undefined;
}

/** What one call of `seal` has sealed. */
export interface Sealed {
  readonly segments: number;
  readonly records: number;
  /** Of the text that the records stood in. */
  readonly bytesBefore: number;
  /** Of the segments that they stand in now. */
  readonly bytesAfter: number;
}

export interface LogInfo {
  readonly log: LogId;
  readonly head: number;
  /** Unix ms of the last record. */
  readonly updatedAt: number;
  /** What the last append said of the log, if it said anything. */
  readonly summary?: JsonObject;
}

/**
 * What finds records of sessions by words, kept with their log: what an append brought as `texts` is found here once it resolved, and nothing is
 * found of a log that was deleted. What others appended is found or named by `unindexed`. Failures reject with `LogError`.
 */
export interface LogIndex {
  /**
   * Records with all the words of the query, best first. A word is a run of letters and digits, in whatever case and with or without accents;
   * one of three or more stands for those that begin with it as well.
   * @param options.log only of this one
   * @param options.offset how many to leave out from the beginning
   */
  search(query: string, options: { readonly limit: number; readonly offset?: number; readonly log?: LogId }): Promise<readonly LogMatch[]>;
  /** Records of sessions that the index lacks, such as those whose append brought no texts, newest logs first: those of at most so many appends. */
  unindexed(limit: number): Promise<readonly UnindexedRecords[]>;
  /** Takes note of what those records are found by. Without effect where their log is not there any more. */
  add(records: UnindexedRecords, texts: readonly { readonly seq: number; readonly text: string }[]): Promise<void>;
}

export interface LogMatch {
  readonly log: LogId;
  readonly seq: number;
  /** From 0 to 1, comparable within one search. */
  readonly score: number;
}

/** Those behind `after`, up to `upTo`. */
export interface UnindexedRecords {
  readonly log: LogId;
  /** Which log of that name: one that is deleted and made anew is another. */
  readonly generation: string;
  readonly after: number;
  readonly upTo: number;
}

/** Large values, by content; lives with the log's backend. Failures reject with `LogError`. */
export interface BlobStore extends AsyncDisposable {
  /**
   * Keeps a copy. The same bytes have the same digest and are kept once. What it resolved is as durable as the next append. The digest is that
   * of the bytes as the store keeps them: one that encrypts them says how long the same bytes have the same.
   */
  put(bytes: Uint8Array): Promise<Digest>;
  /**
   * A copy of the bytes, or of those from `start` up to, not including, `end`; what lies beyond the last byte is left out.
   * Rejects with `not-found`, or with `corrupt` when the content is not what the digest says.
   */
  get(digest: Digest, range?: { readonly start: number; readonly end?: number }): Promise<Uint8Array>;
  /**
   * Removes a blob, unless it was put after `putUpTo` (Unix ms of this store's clock), by whoever may be about to refer to it. The last
   * `put` of the same bytes counts. Resolves to whether there is no such blob any more. A store without this keeps its blobs for ever.
   */
  delete?(digest: Digest, options: { readonly putUpTo: number }): Promise<boolean>;
}

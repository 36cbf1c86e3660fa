import type { Digest, LogId } from "./ids.ts";
import type { JsonObject } from "./json.ts";

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

/** Who may write. `epoch` grows with every new holder; an append with an older one is refused. */
export interface Lease extends AsyncDisposable {
  readonly log: LogId;
  readonly epoch: number;
  readonly owner: string;
  /** Prolongs it by its `ttlMs`. Rejects with `LogError` of kind `stale-epoch` when another holder has taken over. */
  renew(): Promise<void>;
  release(): Promise<void>;
}

/** `power`: on disk when the append resolves. `process`: handed to the operating system, so that it survives this process. */
export type Durability = "power" | "process";

export interface AppendOptions {
  readonly epoch?: number;
  /** Default `process`. */
  readonly durability?: Durability;
}

/**
 * Append-only logs. The contract:
 * - an append is all or nothing, and what it resolved is read by every later `read`;
 * - `expectedSeq` is the seq of the last record the writer knows (0: empty). If others stand there, it rejects with
 *   `conflict`; if exactly these keys stand at these places, it resolves (an acknowledgement was lost);
 * - `"any"` takes the next free place; a key that is already in the log resolves to its seq when type and data are equal,
 *   and rejects with `conflict` when they are not;
 * - records are given away: the caller does not change them afterwards, and a reader's changes reach nobody;
 * - failures reject with `LogError`.
 */
export interface EventLog extends AsyncDisposable {
  /** @returns the seq of the last record appended (or, for lost acknowledgements, of the one that stands there). */
  append(log: LogId, expectedSeq: number | "any", records: readonly NewRecord[], options?: AppendOptions): Promise<number>;
  /** Records after `after` (default 0), in order. With `follow` it waits for more until `signal` fires or the reader leaves. */
  read(log: LogId, options?: { readonly after?: number; readonly follow?: boolean; readonly signal?: AbortSignal }): AsyncIterable<LogRecord>;
  /** Seq of the last record; 0 when there is none. */
  head(log: LogId): Promise<number>;
  /** Logs by id in ascending order. */
  list(options?: { readonly prefix?: string; readonly after?: string; readonly limit?: number }): Promise<readonly LogInfo[]>;
  /** Deletes the log, its lease and nothing else. Deleting a missing log is no error. */
  delete(log: LogId): Promise<void>;
  /**
   * Takes the right to write. Rejects with `lease-held` while another live owner holds it; an owner that is known to be
   * dead, or whose lease expired, is replaced. The same owner may acquire again (and gets a new epoch).
   */
  acquire(log: LogId, options: { readonly owner: string; readonly ttlMs: number }): Promise<Lease>;
}

export interface LogInfo {
  readonly log: LogId;
  readonly head: number;
  /** Unix ms of the last record. */
  readonly updatedAt: number;
}

/** Large values, by content; lives with the log's backend. Failures reject with `LogError`. */
export interface BlobStore extends AsyncDisposable {
  put(bytes: Uint8Array): Promise<Digest>;
  get(digest: Digest, range?: { readonly start: number; readonly end?: number }): Promise<Uint8Array>;
}

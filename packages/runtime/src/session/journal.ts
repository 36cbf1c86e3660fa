import {
  inboxLog,
  LogError,
  sessionLog,
  type BlobStore,
  type Durability,
  type EventLog,
  type InboxEntry,
  type InboxMessage,
  type Lease,
  type LogId,
  type LogRecord,
  type SessionId,
} from "@keelson/protocol";
import type { Conversation } from "../context/conversation.ts";
import type { Clock } from "../platform/clock.ts";
import { spillLargeRecords } from "./large-records.ts";
import { applyRecord } from "./apply-record.ts";
import { foldFromSnapshot, foldWhole } from "./fold-session.ts";
import { inboxEntry, inboxRecord } from "./inbox-record.ts";
import { keepLease } from "./keep-lease.ts";
import { recordText } from "./record-text.ts";
import { sessionSummary } from "./session-summary.ts";
import type { RecordData, RecordType } from "./record-data.ts";
import { stampTimes } from "./stamp-times.ts";
import type { SessionState } from "./session-state.ts";
import { RECORDS_PER_SNAPSHOT, writeSnapshot, type SnapshotPlace } from "./snapshots/snapshot.ts";
import { checkOptionNames } from "../json/option-names.ts";

export interface JournalOptions {
  readonly log: EventLog;
  readonly blobs: BlobStore;
  readonly clock: Clock;
  readonly session: SessionId;
  /** Where the messages of a new session go. Default: a conversation of its own. */
  readonly conversation?: Conversation | undefined;
  /** Who holds the lease. */
  readonly owner: string;
  /** Absent: the log is of this process alone, and no lease is taken. */
  readonly leaseTtlMs?: number | undefined;
  /** What "power" acts (reservations of writes, decisions, settlements, endings) ask of the log. */
  readonly durability: Durability;
  /** How many records may stand behind the newest snapshot before another is written. Default {@link RECORDS_PER_SNAPSHOT}. */
  readonly recordsPerSnapshot?: number | undefined;
  /** Default: nobody is told. */
  readonly watcher?: JournalWatcher | undefined;
}

export interface JournalWatcher {
  /** Called after each append with the records it added, in order. */
  committed(records: readonly LogRecord[]): void;
  /** Called once when the right to write is lost: the journal is dead from then on. */
  lost(error: LogError): void;
  /** Called when a snapshot could not be written. Nothing is lost by it but time, where the session is opened again. */
  snapshotFailed?(error: unknown): void;
}

/**
 * The one writer of a session's log. It holds the lease, the folded state, and the records that wait for the next append.
 *
 * `put` changes the state at once; `flush` makes it last. Everything put since the last flush goes into one append, all or
 * nothing. Whoever is about to act on the world, or tells somebody, flushes first. When an append fails the journal is dead
 * and what its state ran ahead of the log is void: open the session again to go on.
 */
export class Journal {
  readonly state: SessionState;
  readonly log: LogId;
  readonly inboxLog: LogId;
  readonly #options: JournalOptions;
  readonly #lease: Lease | undefined;
  #queue: LogRecord[] = [];
  #durability: Durability = "process";
  #draining: Promise<void> | undefined;
  #failure: LogError | undefined;
  #endRenewal: () => void = () => {};
  readonly #tail = new AbortController();
  /** Where the inbox ended when the journal was opened: what stands behind it was written since. */
  readonly inboxAtOpen: number;
  #inboxSeen: number;
  #committedSeq: number;
  /** The last record that is in the log, where this journal has seen it. */
  #committedKey: string | undefined;
  #snapshot: SnapshotPlace | undefined;
  #inboxListeners: readonly ((entry: InboxEntry) => void)[] = [];
  #following: Promise<void> | undefined;
  #closed = false;

  private constructor(
    options: JournalOptions,
    lease: Lease | undefined,
    { state, key, snapshot }: Awaited<ReturnType<typeof foldFromSnapshot>>,
    inboxHead: number,
  ) {
    this.#options = options;
    this.#lease = lease;
    this.state = state;
    this.log = sessionLog(options.session);
    this.inboxLog = inboxLog(options.session);
    this.inboxAtOpen = inboxHead;
    this.#committedSeq = state.seq;
    this.#committedKey = key;
    this.#snapshot = snapshot;
    this.#inboxSeen = inboxHead;
    const { leaseTtlMs, clock } = options;
    if (lease !== undefined && leaseTtlMs !== undefined)
      this.#endRenewal = keepLease(lease, leaseTtlMs, clock, (error) => this.#fail(error));
  }

  /** Takes the lease, then folds the log. Rejects with `LogError` `lease-held` while another process works on the session. */
  static async open(options: JournalOptions): Promise<Journal> {
    checkOptionNames("Journal.open", options, {
      log: true,
      blobs: true,
      clock: true,
      session: true,
      conversation: true,
      owner: true,
      leaseTtlMs: true,
      durability: true,
      recordsPerSnapshot: true,
      watcher: true,
    });
    const { owner, leaseTtlMs: ttlMs } = options;
    const lease = ttlMs === undefined ? undefined : await options.log.acquire(sessionLog(options.session), { owner, ttlMs });
    try {
      const folded = await foldFromSnapshot(options.log, options.blobs, options.session);
      const { conversation } = options;
      const given = conversation && folded.state.seq === 0 ? { state: { ...folded.state, conversation } } : folded;
      return new Journal(options, lease, given, await options.log.head(inboxLog(options.session)));
    } catch (error) {
      await lease?.release();
      throw error;
    }
  }

  /** Whether whoever worked on the session before was cut off at it. */
  get tookOver(): boolean {
    return this.#lease?.tookOver === true;
  }

  get failure(): LogError | undefined {
    return this.#failure;
  }

  /** Seq of the last record that is in the log; the state may be ahead of it. */
  get committedSeq(): number {
    return this.#committedSeq;
  }

  /** Gives up writing, as if the log had failed: what was put and not flushed is void, and the lease goes back at `close`. */
  abandon(error: LogError): void {
    this.#fail(error);
  }

  /** Adds a record to the next append, and to the state. One that stands there already is not added again. */
  put<T extends RecordType>(key: string, type: T, data: RecordData[T], durability?: Durability): void {
    if (this.#failure) throw this.#failure;
    if (this.state.run?.open.has(key)) return;
    const record: LogRecord = { key, type, data, seq: this.state.seq + 1, at: this.state.at };
    applyRecord(this.state, record);
    this.#queue.push(record);
    if (durability === "power") this.#durability = this.#options.durability;
  }

  /** Resolves when all that was put is in the log. */
  flush(): Promise<void> {
    if (this.#failure) return Promise.reject(this.#failure);
    if (this.#draining) return this.#draining;
    if (this.#queue.length === 0) return Promise.resolve();
    this.#draining = this.#drain();
    return this.#draining;
  }

  /** Writes to the inbox of this session, as anybody may. */
  async writeInbox(key: string, message: InboxMessage): Promise<void> {
    try {
      const { seq } = await this.#options.log.append(this.inboxLog, "any", [inboxRecord(key, message)], {
        durability: this.#options.durability,
      });
      this.#inboxSeen = Math.max(this.#inboxSeen, seq);
    } catch (error) {
      // Somebody was faster under this key: the next reading must not miss what they wrote.
      if (LogError.is(error, "conflict")) this.#inboxSeen = Math.max(this.#inboxSeen, await this.#options.log.head(this.inboxLog));
      throw error;
    }
  }

  /** Whether anything arrived after the last entry that was read. */
  get hasUnread(): boolean {
    return this.#inboxSeen > this.state.inboxRead;
  }

  /** What arrived after the last entry that was read. Reads nothing when nothing did. */
  async readInbox(): Promise<readonly InboxEntry[]> {
    return this.hasUnread ? this.readInboxAfter(this.state.inboxRead) : [];
  }

  async readInboxAfter(after: number, upTo: number = Number.POSITIVE_INFINITY): Promise<readonly InboxEntry[]> {
    const entries: InboxEntry[] = [];
    if (after >= upTo) return entries;
    for await (const record of this.#options.log.read(this.inboxLog, { after })) {
      entries.push(inboxEntry(record));
      if (record.seq >= upTo) break;
    }
    return entries;
  }

  /** Calls `listen` for each new entry as it arrives, while the journal is open. @returns what ends that */
  onInbox(listen: (entry: InboxEntry) => void): () => void {
    this.#inboxListeners = this.#inboxListeners.concat(listen);
    this.#following ??= this.#follow();
    return () => {
      this.#inboxListeners = this.#inboxListeners.filter((other) => other !== listen);
    };
  }

  /** Reads the ends of turns that the snapshot did not hold: who goes back to one needs them. */
  async readTurns(): Promise<void> {
    const { state } = this;
    if (state.turnsBefore === 0) return;
    await this.flush();
    const { turnBorders } = await foldWhole(this.#options.log, this.#options.blobs, state.id, state.seq);
    state.turnBorders = turnBorders;
    state.turnsBefore = 0;
  }

  /** Writes a snapshot where enough records stand behind the newest, and flushes for it: who opens the session reads no more than those. */
  async keepSnapshot(): Promise<void> {
    const { log, blobs, recordsPerSnapshot = RECORDS_PER_SNAPSHOT } = this.#options;
    if (this.state.seq - (this.#snapshot?.seq ?? 0) < recordsPerSnapshot) return;
    await this.flush();
    const key = this.#committedKey;
    // What was put in the meantime is not in the log yet: later, then.
    if (key === undefined || this.state.seq !== this.#committedSeq) return;
    try {
      this.#snapshot = await writeSnapshot(log, blobs, this.state, key, this.#snapshot);
    } catch (error) {
      this.#options.watcher?.snapshotFailed?.(error);
    }
  }

  /** Flushes, lets go of the lease, stops following. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#tail.abort("the journal was closed");
    this.#endRenewal();
    try {
      await this.#following;
      if (!this.#failure) await this.flush();
      if (!this.#failure) await this.keepSnapshot();
    } finally {
      await this.#lease?.release();
    }
  }

  async #drain(): Promise<void> {
    const { log, blobs, clock, leaseTtlMs } = this.#options;
    try {
      while (this.#queue.length > 0) {
        const batch = this.#queue;
        const expected = (batch[0] as LogRecord).seq - 1;
        const durability = this.#durability;
        this.#queue = [];
        this.#durability = "process";
        // Now: while large data go to their blobs, the state may run ahead of these records. A fork that is created here lacks the
        // history that it shares: what it comes to is known when it is folded.
        const summary = expected === 0 && this.state.parent ? undefined : sessionSummary(this.state, expected === 0);
        const texts = log.index && batch.map(recordText);
        const records = await spillLargeRecords(batch, blobs);
        const sentAt = clock.now();
        const { at } = await log.append(this.log, expected, records, { epoch: this.#lease?.epoch, durability, summary, texts });
        // Heard of so late that somebody may have taken over since: whoever acts on it asks first.
        if (leaseTtlMs !== undefined && clock.now() - sentAt >= leaseTtlMs) await this.#lease?.renew();
        stampTimes(this.state, batch, at);
        this.#committedSeq = expected + batch.length;
        this.#committedKey = batch.at(-1)?.key;
        this.#options.watcher?.committed(batch);
      }
    } catch (error) {
      this.#fail(error);
      throw this.#failure;
    } finally {
      this.#draining = undefined;
    }
  }

  #fail(error: unknown): void {
    if (this.#failure) return;
    this.#failure = LogError.is(error)
      ? error
      : new LogError({ kind: "other", message: `the log of session "${this.#options.session}" could not be written` }, { cause: error });
    this.#endRenewal();
    this.#options.watcher?.lost(this.#failure);
  }

  async #follow(): Promise<void> {
    const { signal } = this.#tail;
    try {
      for await (const record of this.#options.log.read(this.inboxLog, { after: this.state.inboxRead, follow: true, signal })) {
        this.#inboxSeen = Math.max(this.#inboxSeen, record.seq);
        const entry = inboxEntry(record);
        for (const listen of this.#inboxListeners) listen(entry);
      }
    } catch (error) {
      if (!this.#tail.signal.aborted) this.#fail(error);
    }
  }
}

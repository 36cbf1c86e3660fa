import type { StatementSync } from "node:sqlite";
import type { LogId, LogRecord, NewRecord } from "@keelson/protocol";
import type { LogContent } from "../kit/plan-append.ts";
import { type AppendRow, namesIn, recordsIn } from "./sqlite-append-row.ts";
import { SEQ_BITS, SEQ_MASK } from "./sqlite-schema.ts";

/**
 * Of logs that this process holds no lease on, so many are remembered, and while all keys together are no more than so many (20 MB).
 * What was forgotten is read again with the next append.
 */
const MAX_IDLE_LOGS = 100;
const MAX_KEYS = 1_000_000;

const LAST_APPEND = `(SELECT max(place) FROM appends WHERE place > l.id << ${SEQ_BITS} AND place < (l.id + 1) << ${SEQ_BITS})`;
const HEAD = `(a.place & ${SEQ_MASK}) + a.records - 1 AS head, a.at`;

/** `head` and `at` are null for a log without records. */
export const FIND_LOG: string = `
  SELECT l.id, l.epoch, l.owner, ${HEAD} FROM logs l LEFT JOIN appends a ON a.place = ${LAST_APPEND}
  WHERE l.name = ?`;
export const LIST_LOGS: string = `
  SELECT l.name, ${HEAD}, a.summary FROM logs l JOIN appends a ON a.place = ${LAST_APPEND}
  WHERE l.name >= ? AND l.name > ? ORDER BY l.name`;
const NAMES_AFTER = `
  SELECT place & ${SEQ_MASK} AS seq, names FROM appends
  WHERE place > ?1 << ${SEQ_BITS} | ?2 AND place < (?1 + 1) << ${SEQ_BITS} ORDER BY place`;
const FIND_KEY = `
  SELECT place & ${SEQ_MASK} AS seq, names FROM appends
  WHERE place > ?1 << ${SEQ_BITS} AND place < (?1 + 1) << ${SEQ_BITS} AND instr(names, ?2) > 0`;
const ROW_AT = `
  SELECT place & ${SEQ_MASK} AS seq, at, names, data FROM appends
  WHERE place > ?1 << ${SEQ_BITS} AND place <= ?1 << ${SEQ_BITS} | ?2 ORDER BY place DESC LIMIT 1`;
const ADD_LOG = "INSERT INTO logs (name) VALUES (?) RETURNING id";

interface LogRow {
  readonly id: number;
  readonly epoch: number | null;
  readonly owner: string | null;
  readonly head: number | null;
  readonly at: number | null;
}

type NamesRow = Pick<AppendRow, "seq" | "names">;

/** The statements that are needed here. */
interface Statements {
  readonly path: string;
  prepare(sql: string): StatementSync;
}

/** What this process knows of a log: where it ends, who writes to it, and which keys are taken. */
export class KnownLog implements LogContent {
  readonly #statements: Statements;
  readonly log: LogId;
  readonly id: number;
  /** Of all keys: the keys themselves would take as much as the conversation. */
  readonly #hashes = new Set<number>();
  /** How many changes by others had been noticed when this was true. */
  changes: number;
  epoch: number | null = null;
  owner: string | null = null;
  head = 0;
  /** Unix ms of the last record. */
  at = 0;

  constructor(statements: Statements, log: LogId, id: number, changes: number) {
    this.#statements = statements;
    this.log = log;
    this.id = id;
    this.changes = changes;
  }

  /** The hashes of keys of which none is taken. Nothing where one may be. */
  freeHashes(records: readonly NewRecord[]): readonly number[] | undefined {
    const hashes: number[] = [];
    for (let index = 0; index < records.length; index++) {
      const hash = hashOf((records[index] as NewRecord).key);
      if (this.#hashes.has(hash)) return undefined;
      hashes.push(hash);
    }
    return hashes;
  }

  seqOf(key: string): number | undefined {
    if (!this.#hashes.has(hashOf(key))) return undefined;
    const rows = this.#statements.prepare(FIND_KEY).iterate(this.id, JSON.stringify(key)) as Iterable<NamesRow>;
    for (const row of rows) {
      const names = namesIn(row, this.log, this.#statements.path);
      for (let index = 0; index < names.length; index += 2) if (names[index] === key) return row.seq + index / 2;
    }
    return undefined;
  }

  /** The next records have keys with these hashes. */
  add(hashes: readonly number[]): void {
    for (let index = 0; index < hashes.length; index++) this.#hashes.add(hashes[index] as number);
    this.head += hashes.length;
  }

  recordAt(seq: number): LogRecord {
    const row = this.#statements.prepare(ROW_AT).get(this.id, seq) as unknown as AppendRow;
    return recordsIn(row, this.log, this.#statements.path)[seq - row.seq] as LogRecord;
  }
}

/**
 * What this process knows of logs, for use within transactions only. An index of the keys in the database would be rewritten
 * with every append, and cost as much as the records themselves.
 */
export class KnownLogs {
  readonly #statements: Statements;
  readonly #logs = new Map<LogId, KnownLog>();
  readonly #held = new Set<LogId>();
  /** Those that are known and not held, the oldest first. */
  readonly #idle = new Set<LogId>();
  #keys = 0;
  #changes = 0;

  constructor(statements: Statements) {
    this.#statements = statements;
  }

  /** Others have committed: each log is looked at again before its next use, and what was added to it is read. */
  othersCommitted(): void {
    this.#changes++;
  }

  /** A transaction of this process failed: what it changed here never happened. */
  clear(): void {
    this.#logs.clear();
    this.#idle.clear();
    this.#keys = 0;
  }

  /** This process has the lease, and will append often. */
  hold(log: LogId): void {
    this.#held.add(log);
    this.#idle.delete(log);
  }

  letGo(log: LogId): void {
    this.#held.delete(log);
    if (this.#logs.has(log)) this.#rest(log);
  }

  /** What was known when it was last used: others may have changed it since. */
  lastKnown(log: LogId): KnownLog | undefined {
    return this.#logs.get(log);
  }

  find(log: LogId): KnownLog | undefined {
    const before = this.#logs.get(log);
    if (before?.changes === this.#changes) return before;
    const row = this.#statements.prepare(FIND_LOG).get(log) as LogRow | undefined;
    const head = row?.head ?? 0;
    if (before !== undefined && (before.id !== row?.id || before.head > head)) this.delete(log);
    if (row === undefined) return undefined;
    const known = this.#logs.get(log) ?? this.#remember(log, row.id);
    if (head > known.head) this.#readNames(known);
    known.changes = this.#changes;
    known.epoch = row.epoch;
    known.owner = row.owner;
    known.at = row.at ?? 0;
    return known;
  }

  create(log: LogId): KnownLog {
    return this.created(log, this.#statements.prepare(ADD_LOG).get(log)?.["id"] as number);
  }

  /** The log is new, and without records. */
  created(log: LogId, id: number): KnownLog {
    this.delete(log);
    return this.#remember(log, id);
  }

  /** Records with keys of these hashes stand at the end of the log now. */
  added(known: KnownLog, hashes: readonly number[], at: number): void {
    known.add(hashes);
    known.at = at;
    this.#keys += hashes.length;
  }

  /** The lease went from hand to hand. */
  leased(log: LogId, epoch: number, owner: string | null): void {
    const known = this.#logs.get(log);
    if (known === undefined) return;
    known.epoch = epoch;
    known.owner = owner;
  }

  delete(log: LogId): void {
    const known = this.#logs.get(log);
    if (known === undefined) return;
    this.#keys -= known.head;
    this.#logs.delete(log);
    this.#idle.delete(log);
  }

  #remember(log: LogId, id: number): KnownLog {
    const known = new KnownLog(this.#statements, log, id, this.#changes);
    this.#logs.set(log, known);
    if (!this.#held.has(log)) this.#rest(log);
    return known;
  }

  #rest(log: LogId): void {
    this.#idle.delete(log);
    this.#idle.add(log);
    for (const oldest of this.#idle) {
      if (oldest === log || (this.#idle.size <= MAX_IDLE_LOGS && this.#keys <= MAX_KEYS)) break;
      this.delete(oldest);
    }
  }

  #readNames(known: KnownLog): void {
    const rows = this.#statements.prepare(NAMES_AFTER).iterate(known.id, known.head);
    for (const row of rows as Iterable<NamesRow>) {
      const names = namesIn(row, known.log, this.#statements.path);
      const hashes: number[] = [];
      for (let index = 0; index < names.length; index += 2) hashes.push(hashOf(names[index] as string));
      known.add(hashes);
      this.#keys += hashes.length;
    }
  }
}

/** Keys of one run begin with its id: what that comes to is kept from one key to the next. */
let lastStart = "";
let lastStartHash = 0;

/** FNV-1a, to 31 bits: what finds nothing is not there, what finds something is looked up. */
export function hashOf(key: string): number {
  if (lastStart === "" || !key.startsWith(lastStart)) {
    lastStart = key.slice(0, key.indexOf("/") + 1);
    lastStartHash = hashOn(0x811c9dc5, lastStart, 0);
  }
  return hashOn(lastStartHash, key, lastStart.length) >>> 1;
}

function hashOn(start: number, text: string, from: number): number {
  let hash = start;
  for (let index = from; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return hash;
}

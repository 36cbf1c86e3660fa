import type { AppendOptions, EventLog, Lease, LogId, LogInfo, LogRecord, NewRecord } from "@keelson/protocol";
import { compareCodePoints } from "./compare-code-points.ts";
import { assertName, type EncodedRecord, encodeRecords, MAX_RECORD_BYTES } from "./encoded-record.ts";
import { assertEpoch, assertLeaseRequest, createLease, leaseEnd, leaseHeld, type LeaseState } from "./lease-state.ts";
import { assertExpectedSeq, closedLog, deletedLog, staleSeq, takenKey } from "./log-conflict.ts";
import { readRecords, type ReadOptions, type RecordSource } from "./read-records.ts";
import { isSameJson } from "./same-json.ts";

export interface MemoryEventLogOptions {
  /** Unix ms. Default `Date.now`. */
  readonly now?: () => number;
  /** Default 64 MiB of JSON text. */
  readonly maxRecordBytes?: number;
}

interface StoredLog {
  /** The record with seq `n` stands at `n - 1`. */
  readonly records: EncodedRecord[];
  readonly times: number[];
  readonly seqs: Map<string, number>;
}

const RECORDS_PER_PAGE = 64;

/** Logs that live as long as this object: for tests, and for runs that nobody resumes. Durability has no meaning here. */
export function createMemoryEventLog(options: MemoryEventLogOptions = {}): EventLog {
  const { now = Date.now, maxRecordBytes = MAX_RECORD_BYTES } = options;
  const logs = new Map<LogId, StoredLog>();
  const leases = new Map<LogId, LeaseState>();
  const listeners = new Map<LogId, Set<() => void>>();
  let lastEpoch = 0;
  let closed = false;

  const assertOpen = (): void => {
    if (closed) throw closedLog();
  };
  const wakeReaders = (log: LogId): void => {
    const waiting = listeners.get(log);
    if (waiting !== undefined) for (const wake of waiting) wake();
  };

  function store(log: LogId, stored: StoredLog | undefined, encoded: readonly EncodedRecord[]): number {
    if (stored === undefined) {
      stored = { records: [], times: [], seqs: new Map() };
      logs.set(log, stored);
    }
    const { records, times, seqs } = stored;
    const at = Math.max(now(), times[times.length - 1] ?? 0);
    for (const record of encoded) {
      times.push(at);
      seqs.set(record.key, records.push(record));
    }
    wakeReaders(log);
    return records.length;
  }

  function appendAt(log: LogId, expectedSeq: number, encoded: readonly EncodedRecord[]): number {
    const stored = logs.get(log);
    const head = stored?.records.length ?? 0;
    if (head !== expectedSeq) {
      const isThere = encoded.length > 0 && encoded.every((record, index) => stored?.records[expectedSeq + index]?.key === record.key);
      if (!isThere) throw staleSeq(log, expectedSeq, head);
      return expectedSeq + encoded.length;
    }
    if (encoded.length === 0) return head;
    if (stored !== undefined) {
      for (const { key } of encoded) {
        const seq = stored.seqs.get(key);
        if (seq !== undefined) throw takenKey(log, expectedSeq, seq, key);
      }
    }
    return store(log, stored, encoded);
  }

  function appendAnywhere(log: LogId, encoded: readonly EncodedRecord[]): number {
    const stored = logs.get(log);
    const last = encoded[encoded.length - 1];
    if (last === undefined) return stored?.records.length ?? 0;
    let missing = encoded;
    if (stored !== undefined) {
      missing = encoded.filter((record) => {
        const seq = stored.seqs.get(record.key);
        if (seq === undefined) return true;
        const standing = stored.records[seq - 1] as EncodedRecord;
        if (standing.type !== record.type || !isSameJson(standing.text, record.text)) throw takenKey(log, "any", seq, record.key);
        return false;
      });
      if (missing.length === 0) return stored.seqs.get(last.key) as number;
    }
    const head = store(log, stored, missing);
    return logs.get(log)?.seqs.get(last.key) ?? head;
  }

  function sourceOf(log: LogId): RecordSource {
    let seen = logs.get(log);
    return {
      page(after) {
        assertOpen();
        const stored = logs.get(log);
        if (seen !== undefined && stored !== seen) throw deletedLog(log);
        seen = stored;
        if (stored === undefined) return [];
        const page: LogRecord[] = [];
        const end = Math.min(stored.records.length, after + RECORDS_PER_PAGE);
        for (let index = after; index < end; index++) {
          const { key, type, text } = stored.records[index] as EncodedRecord;
          page.push({ seq: index + 1, at: stored.times[index] as number, key, type, data: JSON.parse(text) as LogRecord["data"] });
        }
        return page;
      },
      listen(wake) {
        let waiting = listeners.get(log);
        if (waiting === undefined) listeners.set(log, (waiting = new Set()));
        waiting.add(wake);
        return () => {
          waiting.delete(wake);
          if (waiting.size === 0 && listeners.get(log) === waiting) listeners.delete(log);
        };
      },
    };
  }

  return {
    async append(log: LogId, expectedSeq: number | "any", records: readonly NewRecord[], { epoch, onAppended }: AppendOptions = {}) {
      assertOpen();
      assertName(log, "The id of a log");
      assertExpectedSeq(log, expectedSeq);
      const encoded = encodeRecords(log, records, maxRecordBytes);
      if (epoch !== undefined) assertEpoch(log, epoch, leases.get(log));
      const before = logs.get(log)?.records.length ?? 0;
      const seq = expectedSeq === "any" ? appendAnywhere(log, encoded) : appendAt(log, expectedSeq, encoded);
      const stored = logs.get(log);
      if (onAppended !== undefined && stored !== undefined && encoded.length > 0 && stored.records.length === before + encoded.length)
        onAppended(stored.times[before] as number);
      return seq;
    },
    read(log: LogId, readOptions: ReadOptions = {}) {
      return readRecords(sourceOf(log), readOptions);
    },
    async head(log: LogId) {
      assertOpen();
      return logs.get(log)?.records.length ?? 0;
    },
    async list({ prefix = "", after, limit = Infinity } = {}) {
      assertOpen();
      const found: LogInfo[] = [];
      for (const [log, { times }] of logs) {
        if (log.startsWith(prefix) && (after === undefined || compareCodePoints(log, after) > 0)) {
          found.push({ log, head: times.length, updatedAt: times[times.length - 1] as number });
        }
      }
      return found.sort((a, b) => compareCodePoints(a.log, b.log)).slice(0, limit);
    },
    async delete(log: LogId) {
      assertOpen();
      logs.delete(log);
      leases.delete(log);
      wakeReaders(log);
    },
    async acquire(log: LogId, request: { readonly owner: string; readonly ttlMs: number }): Promise<Lease> {
      assertOpen();
      assertName(log, "The id of a log");
      assertLeaseRequest(log, request);
      const { owner, ttlMs } = request;
      const held = leases.get(log);
      if (held !== undefined && held.owner !== null && held.owner !== owner) {
        const expiresAt = leaseEnd(held, now());
        if (expiresAt > now()) {
          leases.set(log, { ...held, expiresAt });
          throw leaseHeld(log, held.owner, expiresAt);
        }
      }
      const epoch = ++lastEpoch;
      leases.set(log, { epoch, owner, ttlMs, expiresAt: now() + ttlMs });
      return createLease({
        log,
        epoch,
        owner,
        async renew() {
          assertOpen();
          assertEpoch(log, epoch, leases.get(log));
          leases.set(log, { epoch, owner, ttlMs, expiresAt: now() + ttlMs });
        },
        async release() {
          const current = leases.get(log);
          if (current?.epoch === epoch) leases.set(log, { ...current, owner: null });
        },
      });
    },
    async [Symbol.asyncDispose]() {
      closed = true;
      logs.clear();
      leases.clear();
      for (const log of [...listeners.keys()]) wakeReaders(log);
    },
  };
}

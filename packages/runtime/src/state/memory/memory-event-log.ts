import type { Appended, AppendOptions, EventLog, JsonObject, Lease, LogId, LogInfo, NewRecord } from "@keelson/protocol";
import { compareCodePoints } from "../kit/compare-code-points.ts";
import { assertName, encodeSummary, encodeTogether, MAX_RECORD_BYTES } from "../kit/encoded-record.ts";
import { assertEpoch, assertLeaseRequest, createLease, leaseHeld, type LeaseState, otherHolder } from "../kit/lease-state.ts";
import { assertExpectedSeq, assertTime, closedLog, deletedLog } from "../kit/log-conflict.ts";
import { MemoryLogContent } from "./memory-log-content.ts";
import { type LogContent, planAppend } from "../kit/plan-append.ts";
import { readRecords, type ReadOptions, type RecordSource, timeAt } from "../kit/read-records.ts";
import { checkOptionNames } from "../../json/option-names.ts";
import { checkMethodOptions } from "../../json/check-method-options.ts";
import { EVENT_LOG_METHODS } from "../../json/interface-methods.ts";
import { BOUND_OPTION, FUNCTION_OPTION } from "../../json/option-rules.ts";

export interface MemoryEventLogOptions {
  /** Unix ms. Default `Date.now`. */
  readonly now?: (() => number) | undefined;
  /** Default 64 MiB of JSON text. */
  readonly maxRecordBytes?: number | undefined;
}

const RECORDS_PER_PAGE = 64;
const EMPTY: LogContent = { head: 0, standing: new Map() };
const NOBODY: readonly (() => void)[] = [];

/** Logs that live as long as this object: for tests, and for runs that nobody resumes. Durability has no meaning here. */
export function createMemoryEventLog(options: MemoryEventLogOptions = {}): EventLog {
  checkOptionNames("createMemoryEventLog", options, { now: FUNCTION_OPTION, maxRecordBytes: BOUND_OPTION });
  const { now = Date.now, maxRecordBytes = MAX_RECORD_BYTES } = options;
  const logs = new Map<LogId, MemoryLogContent>();
  const leases = new Map<LogId, LeaseState>();
  const listeners = new Map<LogId, readonly (() => void)[]>();
  let lastEpoch = 0;
  let closed = false;

  const assertOpen = (): void => {
    if (closed) throw closedLog();
  };
  const wakeReaders = (log: LogId): void => {
    const waiting = listeners.get(log);
    if (waiting !== undefined) for (const wake of waiting) wake();
  };

  function store(log: LogId, content: MemoryLogContent | undefined, records: readonly NewRecord[], text: string, since = now()): number {
    if (content === undefined) logs.set(log, (content = new MemoryLogContent()));
    const at = Math.max(since, content.lastAt);
    content.append(at, records, text);
    wakeReaders(log);
    return at;
  }

  function sourceOf(log: LogId): RecordSource {
    let seen = logs.get(log);
    return {
      async page(after) {
        assertOpen();
        const content = logs.get(log);
        if (seen !== undefined && content !== seen) throw deletedLog(log);
        seen = content;
        return content?.read(after, RECORDS_PER_PAGE) ?? [];
      },
      listen(wake) {
        listeners.set(log, (listeners.get(log) ?? NOBODY).concat(wake));
        return () => {
          const left = (listeners.get(log) ?? NOBODY).filter((other) => other !== wake);
          if (left.length > 0) listeners.set(log, left);
          else listeners.delete(log);
        };
      },
    };
  }

  const eventLog: EventLog = {
    async append(
      log: LogId,
      expectedSeq: number | "any",
      records: readonly NewRecord[],
      { epoch, summary, at: since }: AppendOptions = {},
    ): Promise<Appended> {
      assertOpen();
      assertName(log, "The id of a log");
      assertExpectedSeq(log, expectedSeq);
      if (since !== undefined) assertTime(log, since);
      const text = encodeTogether(log, records, maxRecordBytes);
      const about = encodeSummary(log, summary, maxRecordBytes);
      if (epoch !== undefined) assertEpoch(log, epoch, leases.get(log));
      const content = logs.get(log);
      const { missing, lastSeq } = planAppend({ log, expectedSeq, records, text }, content?.about(records) ?? EMPTY);
      const isWhole = missing.length === records.length;
      const at =
        missing.length > 0 ? store(log, content, missing, isWhole ? text : encodeTogether(log, missing, maxRecordBytes), since) : 0;
      const added = logs.get(log);
      if (added !== undefined && (missing.length > 0 || (records.length === 0 && about !== undefined))) added.summary = about;
      return { seq: lastSeq, at: missing.length > 0 && isWhole ? at : await timeAt(sourceOf(log), lastSeq) };
    },
    read(log: LogId, readOptions: ReadOptions = {}) {
      return readRecords(sourceOf(log), readOptions);
    },
    async head(log: LogId) {
      assertOpen();
      return logs.get(log)?.head ?? 0;
    },
    async list({ prefix = "", after, limit = Infinity } = {}) {
      assertOpen();
      const found: LogInfo[] = [];
      for (const [log, { head, lastAt, summary }] of logs) {
        if (log.startsWith(prefix) && (after === undefined || compareCodePoints(log, after) > 0)) {
          found.push({ log, head, updatedAt: lastAt, ...(summary !== undefined && { summary: JSON.parse(summary) as JsonObject }) });
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
      const other = otherHolder(held, owner, now());
      if (held !== undefined && other !== undefined) {
        leases.set(log, { ...held, expiresAt: other.expiresAt });
        throw leaseHeld(log, other.owner, other.expiresAt);
      }
      const epoch = ++lastEpoch;
      leases.set(log, { epoch, owner, ttlMs, expiresAt: now() + ttlMs });
      return createLease({
        log,
        epoch,
        owner,
        before: held,
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
  return checkMethodOptions("log", eventLog, EVENT_LOG_METHODS);
}

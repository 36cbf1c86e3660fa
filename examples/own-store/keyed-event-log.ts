import type { Appended, AppendOptions, EventLog, LogId, LogRecord, NewRecord } from "@keelson/protocol";
import { isDeadOwner } from "keelson/state";
import {
  type AppendRequest,
  assertEpoch,
  assertExpectedSeq,
  assertLeaseRequest,
  assertName,
  closedLog,
  compareCodePoints,
  createLease,
  deletedLog,
  encodeRecords,
  encodeSummary,
  leaseHeld,
  type LeaseState,
  MAX_RECORD_BYTES,
  otherHolder,
  planAppend,
  readRecords,
  type RecordSource,
  timeAt,
} from "keelson/state/kit";
import type { KeyedServer, Values } from "./keyed-server.ts";

/** What the server keeps of a log beside its records. */
interface KeptLog {
  readonly log: LogId;
  /** Another number means that the log was deleted and made again. */
  readonly id: number;
  readonly head: number;
  /** Unix ms of the last record. */
  readonly at: number;
  readonly lease?: LeaseState;
  /** JSON text. */
  readonly summary?: string | undefined;
}

const logName = (log: string): string => `log/${log}`;
const recordName = (id: number, seq: number | ""): string => `record/${id}/${seq}`;
const keyName = (id: number, key: string): string => `key/${id}/${key}`;

// #region append
/** Within a transaction: looks up what is taken, plans, and sets what is missing. */
async function addRecords(
  server: KeyedServer,
  values: Values,
  request: AppendRequest & { readonly summary: string | undefined; readonly data: ReadonlyMap<string, string> },
  { epoch, now }: { readonly epoch: number | undefined; readonly now: number },
): Promise<{ readonly lastSeq: number; readonly at: number | undefined }> {
  const { log, records, summary, data } = request;
  const kept = await findLog(server, values, log);
  if (epoch !== undefined) assertEpoch(log, epoch, kept.lease);
  const standing = new Map<string, LogRecord>();
  for (const { key } of records) {
    const seq = await read<number>(server, keyName(kept.id, key));
    const record = seq && (await read<LogRecord>(server, recordName(kept.id, seq)));
    if (record) standing.set(key, record);
  }
  const { missing, lastSeq } = planAppend(request, { head: kept.head, standing });
  // Time never runs backwards within a log.
  const at = missing.length > 0 ? Math.max(now, kept.at) : kept.at;
  for (const [index, { key, type }] of missing.entries()) {
    const seq = kept.head + index + 1;
    const names = JSON.stringify({ seq, at, key, type }).slice(0, -1);
    values.set(recordName(kept.id, seq), `${names},"data":${data.get(key) ?? "{}"}}`);
    values.set(keyName(kept.id, key), String(seq));
  }
  const bringsSummary = missing.length > 0 || (records.length === 0 && summary !== undefined);
  const next: KeptLog = { ...kept, head: kept.head + missing.length, at, summary: bringsSummary ? summary : kept.summary };
  if (next.head > 0) values.set(logName(log), JSON.stringify(next));
  return { lastSeq, at: missing.length > 0 && missing.length === records.length ? at : undefined };
}
// #endregion

async function read<T>(server: KeyedServer, name: string): Promise<T | undefined> {
  const text = await server.get(name);
  return text === undefined ? undefined : (JSON.parse(text) as T);
}

/** A log that is not there yet gets a number. */
async function findLog(server: KeyedServer, values: Values, log: LogId): Promise<KeptLog> {
  return (await read<KeptLog>(server, logName(log))) ?? { log, id: await nextNumber(server, values), head: 0, at: 0 };
}

/** One that was never given before. */
async function nextNumber(server: KeyedServer, values: Values): Promise<number> {
  const last = values.get("last-number") ?? (await server.get("last-number")) ?? "0";
  values.set("last-number", String(Number(last) + 1));
  return Number(last) + 1;
}

/** Logs on a server that keeps texts by name. */
export function createKeyedEventLog(server: KeyedServer, now: () => number = Date.now): EventLog {
  const taken = new Map<number, LogId>();
  let closed = false;
  const assertOpen = (): void => {
    if (closed) throw closedLog();
  };

  function sourceOf(log: LogId): RecordSource {
    let seen: number | undefined;
    return {
      async page(after) {
        const kept = await read<KeptLog>(server, logName(log));
        assertOpen();
        if (seen !== undefined && seen !== kept?.id) throw deletedLog(log);
        seen = kept?.id;
        const page: LogRecord[] = [];
        for (let seq = after + 1; kept !== undefined && seq <= Math.min(kept.head, after + 100); seq++) {
          const record = await read<LogRecord>(server, recordName(kept.id, seq));
          if (record === undefined) throw deletedLog(log);
          page.push(record);
        }
        return page;
      },
      listen: (wake) => server.watch(wake),
    };
  }

  function changeLease(log: LogId, change: (lease: LeaseState | undefined) => LeaseState | undefined): Promise<void> {
    return server.transaction(async (values) => {
      const kept = await read<KeptLog>(server, logName(log));
      const lease = change(kept?.lease);
      if (kept !== undefined && lease !== undefined) values.set(logName(log), JSON.stringify({ ...kept, lease }));
    });
  }

  async function release(log: LogId, epoch: number): Promise<void> {
    if (taken.delete(epoch)) await changeLease(log, (lease) => (lease?.epoch === epoch ? { ...lease, owner: null } : undefined));
  }

  return {
    async append(log: LogId, expectedSeq: number | "any", records: readonly NewRecord[], options: AppendOptions = {}): Promise<Appended> {
      assertOpen();
      assertName(log, "The id of a log");
      assertExpectedSeq(log, expectedSeq);
      const texts = encodeRecords(log, records, MAX_RECORD_BYTES);
      const data = new Map(records.map(({ key }, index) => [key, texts[index] ?? "{}"]));
      const summary = encodeSummary(log, options.summary, MAX_RECORD_BYTES);
      const request = { log, expectedSeq, records: [...records], text: `[${texts.join(",")}]`, summary, data };
      const { lastSeq, at } = await server.transaction((values) =>
        addRecords(server, values, request, { epoch: options.epoch, now: now() }),
      );
      return { seq: lastSeq, at: at ?? (await timeAt(sourceOf(log), lastSeq)) };
    },
    read: (log, options) => readRecords(sourceOf(log), options),
    async head(log) {
      assertOpen();
      return (await read<KeptLog>(server, logName(log)))?.head ?? 0;
    },
    async list({ prefix = "", after, limit = Infinity } = {}) {
      assertOpen();
      const logs = (await server.entries(logName(prefix))).map(([, text]) => JSON.parse(text) as KeptLog);
      return logs
        .filter(({ log, head }) => head > 0 && (after === undefined || compareCodePoints(log, after) > 0))
        .sort((a, b) => compareCodePoints(a.log, b.log))
        .slice(0, limit)
        .map(({ log, head, at, summary }) => ({ log, head, updatedAt: at, ...(summary && { summary: JSON.parse(summary) }) }));
    },
    async delete(log) {
      assertOpen();
      await server.transaction(async (values) => {
        const kept = await read<KeptLog>(server, logName(log));
        if (kept === undefined) return;
        values.set(logName(log), undefined);
        for (const beginning of [recordName(kept.id, ""), keyName(kept.id, "")])
          for (const [name] of await server.entries(beginning)) values.set(name, undefined);
      });
    },
    async acquire(log, request) {
      assertOpen();
      assertName(log, "The id of a log");
      assertLeaseRequest(log, request);
      const { owner, ttlMs } = request;
      const { epoch, before, other } = await server.transaction(async (values) => {
        const kept = await findLog(server, values, log);
        const other = otherHolder(kept.lease, owner, now(), isDeadOwner);
        // A refusal keeps something, too: a lease ends no later than a clock that was set back says.
        const lease =
          other !== undefined && kept.lease !== undefined
            ? { ...kept.lease, expiresAt: other.expiresAt }
            : { epoch: await nextNumber(server, values), owner, ttlMs, expiresAt: now() + ttlMs };
        values.set(logName(log), JSON.stringify({ ...kept, lease }));
        return { epoch: lease.epoch, before: kept.lease, other };
      });
      if (other !== undefined) throw leaseHeld(log, other.owner, other.expiresAt);
      taken.set(epoch, log);
      return createLease({
        log,
        owner,
        epoch,
        before,
        async renew() {
          assertOpen();
          await changeLease(log, (lease) => {
            assertEpoch(log, epoch, lease);
            return { epoch, owner, ttlMs, expiresAt: now() + ttlMs };
          });
        },
        release: () => release(log, epoch),
      });
    },
    async [Symbol.asyncDispose]() {
      if (closed) return;
      closed = true;
      for (const [epoch, log] of [...taken]) await release(log, epoch);
      // Wakes the readers that wait, so that they see that it is closed.
      await server.transaction(async (values) => void values.set("last-disposal", String(now())));
    },
  };
}

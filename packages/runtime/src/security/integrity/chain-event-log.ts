import {
  type Appended,
  type AppendOptions,
  type EventLog,
  type JsonObject,
  LogError,
  type LogId,
  type LogRecord,
  type NewRecord,
} from "@keelson/protocol";
import { aroundEventLog } from "../../state/kit/around-event-log.ts";
import { encodeRecords, MAX_RECORD_BYTES } from "../../state/kit/encoded-record.ts";
import { takenKey } from "../../state/kit/log-conflict.ts";
import { mapRecords } from "../../state/kit/map-records.ts";
import { isSameValue } from "../../state/kit/same-value.ts";
import { chained, describeProblem, isChained, linkOf, problemWith, START, withoutLink, type Link } from "./record-chain.ts";
import { checkMethodOptions } from "../../json/check-method-options.ts";
import { EVENT_LOG_METHODS } from "../../json/interface-methods.ts";

/** Of so many logs that somebody writes to under a lease it is remembered where their chains have come to. */
const REMEMBERED = 1000;

/**
 * A log whose records each carry a hash that is made with that of the record before, so that one which is missing, was changed or stands
 * elsewhere is found: by who reads it, who gets `corrupt`, and by `checkLog`. Any log can have it beneath. Records that were written without
 * are read as they are. Who can write to the store can make all hashes anew: put `encryptEventLog` between the two, and nobody can who has no key.
 * When a log took a record is not part of its hash, and that records are missing at the end shows against a head alone that is kept elsewhere.
 */
export function chainEventLog(log: EventLog): EventLog {
  const waiting = new Map<LogId, Promise<unknown>>();
  const ends = new Map<LogId, { readonly epoch: number; readonly link: Link }>();

  /** One append of a log after another: each begins with the hash that the one before ended with. */
  function inTurn<T>(id: LogId, work: () => Promise<T>): Promise<T> {
    const turn = (waiting.get(id) ?? Promise.resolve()).then(work);
    const done: Promise<void> = turn.then(ignore, ignore).then(() => {
      if (waiting.get(id) === done) waiting.delete(id);
    });
    waiting.set(id, done);
    return turn;
  }

  /** Where the chain is at a record; nothing where there is no such record. */
  async function linkAt(id: LogId, seq: number, epoch: number | undefined): Promise<Link | undefined> {
    if (seq === 0) return START;
    const end = ends.get(id);
    // Nobody else writes while this epoch does.
    if (end !== undefined && epoch !== undefined && end.epoch === epoch && end.link.seq === seq) return end.link;
    const record = await recordAt(log, id, seq);
    return record && linkOf(id, record);
  }

  function remember(id: LogId, epoch: number | undefined, link: Link): void {
    ends.delete(id);
    if (epoch === undefined) return;
    ends.set(id, { epoch, link });
    for (const oldest of ends.keys()) {
      if (ends.size <= REMEMBERED) break;
      ends.delete(oldest);
    }
  }

  /** @throws LogError `conflict` where the log is not at `expectedSeq` */
  async function appendAt(id: LogId, expectedSeq: number, records: readonly NewRecord[], options: AppendOptions): Promise<Appended> {
    for (;;) {
      const before = await linkAt(id, expectedSeq, options.epoch);
      if (before === undefined) {
        // Refused for that, unless somebody wrote it just now.
        await log.append(id, expectedSeq, [], options.epoch === undefined ? {} : { epoch: options.epoch });
        continue;
      }
      const linked: NewRecord[] = [];
      let link = before;
      for (const record of records) {
        const next = chained(id, link, record);
        linked.push(next.record);
        link = next.link;
      }
      const appended = await log.append(id, expectedSeq, linked, options);
      remember(id, options.epoch, link);
      return appended;
    }
  }

  async function appendAnywhere(id: LogId, records: readonly NewRecord[], options: AppendOptions): Promise<Appended> {
    const standing = new Map<string, LogRecord>();
    for (;;) {
      const missing = records.filter(({ key }) => !standing.has(key));
      // As they stand, so that the log finds all of them: it may have to bring them to the disk.
      if (missing.length === 0) return log.append(id, "any", [...standing.values()].map(plainRecord), options);
      const head = await log.head(id);
      try {
        const appended = await appendAt(id, head, missing, options);
        const last = standing.get(records.at(-1)?.key ?? "");
        return last === undefined ? appended : { seq: last.seq, at: last.at };
      } catch (error) {
        if (!LogError.is(error, "conflict")) throw error;
        const { actualSeq } = error.failure;
        const found = await recordAt(log, id, actualSeq);
        const same = missing.find(({ key }) => key === found?.key);
        // Somebody was faster: there is another head by now.
        if (found === undefined || same === undefined) continue;
        const { type, data } = withoutLink(found);
        if (type !== same.type || !isSameValue(data, same.data)) throw takenKey(id, "any", actualSeq, same.key);
        standing.set(found.key, found);
      }
    }
  }

  const own: Parameters<typeof aroundEventLog>[1] = {
    ...(log.index && { index: log.index }),
    async append(id, expectedSeq, records, options = {}) {
      const data = encodeRecords(id, records, MAX_RECORD_BYTES).map((text) => JSON.parse(text) as JsonObject);
      const plain = records.map(({ key, type }, index) => ({ key, type, data: data[index] as JsonObject }));
      const taken = plain.find(isChained);
      if (taken !== undefined)
        throw new LogError({
          kind: "invalid-input",
          message: `The data of record "${taken.key}" for log "${id}" has a member "~chain", which is where its hash goes. Give the member another name.`,
        });
      return inTurn(id, () => {
        if (records.length === 0) return log.append(id, expectedSeq, records, options);
        return expectedSeq === "any" ? appendAnywhere(id, plain, options) : appendAt(id, expectedSeq, plain, options);
      });
    },
    read: (id, options) =>
      mapRecords(log.read(id, options), () => {
        let before: Link | undefined = (options?.after ?? 0) === 0 ? START : undefined;
        return (record) => {
          const problem = problemWith(id, before, record);
          if (problem !== undefined)
            throw new LogError({
              kind: "corrupt",
              log: id,
              seq: record.seq,
              message: `${describeProblem(id, record.seq, problem)} What stands before it is intact. Restore the log from a backup, or go on from before it: checkLog says all that is wrong, repairLog makes a log of what is sound.`,
            });
          before = linkOf(id, record);
          return withoutLink(record);
        };
      }),
    async delete(id) {
      ends.delete(id);
      await log.delete(id);
    },
  };
  return checkMethodOptions(
    "log",
    aroundEventLog(log, own, undefined, (state) => state),
    EVENT_LOG_METHODS,
  );
}

/** What comes of an append is its caller's to know. */
function ignore(): void {}

async function recordAt(log: EventLog, id: LogId, seq: number): Promise<LogRecord | undefined> {
  for await (const record of log.read(id, { after: Math.max(0, seq - 1) })) return record.seq === seq ? record : undefined;
  return undefined;
}

function plainRecord({ key, type, data }: LogRecord): NewRecord {
  return { key, type, data };
}

import { type EventLog, type JsonObject, type KeyRing, LogError, type LogId, type LogRecord, type NewRecord } from "@keelson/protocol";
import { createSealer, type Sealer } from "../../environment/crypto/sealer.ts";
import { checkOptionNames } from "../../json/option-names.ts";
import { aroundEventLog } from "../../state/kit/around-event-log.ts";
import { encodeRecords, encodeSummary, MAX_RECORD_BYTES } from "../../state/kit/encoded-record.ts";
import { mapRecords } from "../../state/kit/map-records.ts";
import { isSameValue } from "../../state/kit/same-value.ts";
import { encryptBlobStore } from "./encrypt-blob-store.ts";
import { unopened } from "./unopened.ts";
import { checkMethodOptions } from "../../json/check-method-options.ts";
import { EVENT_LOG_METHODS } from "../../json/interface-methods.ts";
import { FLAG_OPTION } from "../../json/option-rules.ts";

export interface EncryptEventLogOptions {
  readonly keys: KeyRing;
  /** Whether records that were written without encryption are read as they are, while logs are being moved to it. Default false. */
  readonly mayBePlain?: boolean | undefined;
}

/** The member that sealed data stand in, alone. */
const SEALED = "~sealed";

/**
 * Encryption at rest: the data of records and what is listed of a log are sealed (AES-256-GCM) before a log gets them, for their log, key and
 * type; moved to another place they don't open. So are its blobs ({@link encryptBlobStore}). Ids of logs, keys and types of records, their
 * order, times and sizes, leases and budgets stay readable, since a log goes by them. A record under an old key stays under it: keep that
 * key in the ring for as long as such logs are there, or export and import them.
 */
export function encryptEventLog(log: EventLog, options: EncryptEventLogOptions): EventLog {
  checkOptionNames("encryptEventLog", options, { keys: true, mayBePlain: FLAG_OPTION });
  const { keys, mayBePlain = false } = options;
  const sealer = createSealer(keys);
  let lastSealed: Promise<unknown> = Promise.resolve();

  /** Appends take effect in the order of their calls, however long the keys take. */
  function inTurn<T>(work: Promise<T>): Promise<T> {
    const turn = lastSealed.then(() => work);
    lastSealed = turn.catch(() => undefined);
    return turn;
  }

  const encrypted = aroundEventLog(
    log,
    {
      // What records are found by would stand in an index as it is: none is passed on, and this log has no index.
      async append(id, expectedSeq, records, { summary, texts: _texts, ...given } = {}) {
        const data = encodeRecords(id, records, MAX_RECORD_BYTES);
        const about = encodeSummary(id, summary, MAX_RECORD_BYTES);
        const sealing = Promise.all([
          Promise.all(records.map(async (record, index) => sealRecord(sealer, id, record, data[index] as string))),
          about === undefined ? undefined : sealer.sealText(about, summaryPlaceOf(id)),
        ]);
        const [sealed, sealedSummary] = await inTurn(sealing);
        const options = { ...given, ...(sealedSummary !== undefined && { summary: { [SEALED]: sealedSummary } }) };
        for (let tries = records.length; ; tries--) {
          try {
            return await log.append(id, expectedSeq, sealed, options);
          } catch (error) {
            if (tries === 0 || expectedSeq !== "any" || !LogError.is(error, "conflict")) throw error;
            // Sealed twice, the same data differ. What stands there is compared as it was before it was sealed.
            const standing = await recordAt(log, id, error.failure.actualSeq);
            const index = sealed.findIndex(({ key }) => key === standing?.key);
            if (standing === undefined || index < 0) throw error;
            const { type, data: plain } = await openRecord(sealer, id, standing, mayBePlain);
            if (type !== sealed[index]?.type || !isSameValue(plain, JSON.parse(data[index] as string))) throw error;
            sealed[index] = { key: standing.key, type, data: standing.data };
          }
        }
      },
      read: (id, options) => mapRecords(log.read(id, options), () => (record) => openRecord(sealer, id, record, mayBePlain)),
      list: async (options) =>
        Promise.all(
          (await log.list(options)).map(async ({ summary, ...info }) => {
            const about = summary && (await openSummary(sealer, info.log, summary, mayBePlain));
            return { ...info, ...(about && { summary: about }) };
          }),
        ),
    },
    (blobs) => encryptBlobStore(blobs, options),
  );
  return checkMethodOptions("log", encrypted, EVENT_LOG_METHODS);
}

async function sealRecord(sealer: Sealer, log: LogId, { key, type }: NewRecord, data: string): Promise<NewRecord> {
  return { key, type, data: { [SEALED]: await sealer.sealText(data, placeOf(log, key, type)) } };
}

async function openRecord(sealer: Sealer, log: LogId, record: LogRecord, mayBePlain: boolean): Promise<LogRecord> {
  const { key, type, data, seq } = record;
  const text = sealedText(data);
  if (text === undefined) {
    if (mayBePlain) return record;
    throw new LogError({
      kind: "corrupt",
      log,
      seq,
      message: `Record ${seq} of log "${log}" is not encrypted, and was perhaps put there by somebody who has no key. Where it was written before encryption was on, allow that with mayBePlain.`,
    });
  }
  const plain = await sealer.openText(text, placeOf(log, key, type)).catch(unopened(`Record ${seq} of log "${log}"`, { log, seq }));
  return { ...record, data: JSON.parse(plain) as JsonObject };
}

/** One that does not open says nothing: who wants to know reads the log, and is told why not. */
async function openSummary(sealer: Sealer, log: LogId, summary: JsonObject, mayBePlain: boolean): Promise<JsonObject | undefined> {
  const text = sealedText(summary);
  if (text === undefined) return mayBePlain ? summary : undefined;
  const plain = await sealer.openText(text, summaryPlaceOf(log)).catch(() => undefined);
  return plain === undefined ? undefined : (JSON.parse(plain) as JsonObject);
}

async function recordAt(log: EventLog, id: LogId, seq: number): Promise<LogRecord | undefined> {
  for await (const record of log.read(id, { after: Math.max(0, seq - 1) })) return record;
  return undefined;
}

function sealedText(data: JsonObject): string | undefined {
  const { [SEALED]: text, ...others } = data;
  return typeof text === "string" && Object.keys(others).length === 0 ? text : undefined;
}

// As JSON, since ids, keys and types may hold any character.
function placeOf(log: LogId, key: string, type: string): string {
  return JSON.stringify(["record", log, key, type]);
}

function summaryPlaceOf(log: LogId): string {
  return JSON.stringify(["summary", log]);
}

import {
  type BlobStore,
  type Digest,
  type EventLog,
  type JsonObject,
  type Lease,
  LogError,
  type LogId,
  type LogRecord,
  sessionLog,
  type SessionId,
} from "@keelson/protocol";
import { canonicalJson } from "../../json/canonical-json.ts";
import { checkOptionNames } from "../../json/option-names.ts";
import { randomId } from "../../json/random-id.ts";
import { systemClock } from "../../platform/clock.ts";
import { processOwner } from "../../platform/process-owner.ts";
import { foldSession } from "../fold-session.ts";
import { restoreLargeRecord, spillLargeData } from "../large-records.ts";
import { atAgentBoundary } from "../log-failure.ts";
import { sessionError } from "../session-error.ts";
import { checkSessionId } from "../session-id.ts";
import { importedSummary } from "../session-summary.ts";
import { exportedLog, type ExportedRecord, type ExportHeader, isJsonObject, readExport } from "./read-export.ts";
import { FUNCTION_OPTION } from "../../json/option-rules.ts";

export interface ImportOptions {
  readonly log: EventLog;
  readonly blobs: BlobStore;
  /** The session's id here. Default: the one that it had. */
  readonly id?: string | undefined;
  /** Who holds the lease meanwhile. Default: this process. */
  readonly owner?: string | undefined;
  /** Default 30 s. */
  readonly leaseTtlMs?: number | undefined;
  /** Unix ms. Default: the time of this machine. */
  readonly now?: (() => number) | undefined;
}

export interface ImportedSession {
  readonly session: SessionId;
  /** How many of them were added: the others were there, from an import that was cut off or as a history that other sessions share. */
  readonly records: number;
  readonly blobs: number;
  /** What its records speak of like blobs, and was none where it was exported. */
  readonly noBlobs: number;
  /** Whether the log took over since when the records stand. Else they stand since now. */
  readonly keptTimes: boolean;
}

/** Where its lines come from: called twice, as all of them are checked before any is written. */
export type ExportSource = () => AsyncIterable<Uint8Array | string>;

const RECORDS_PER_APPEND = 200;
const CHARS_PER_APPEND = 1024 * 1024;

/**
 * Reads what `exportSession` wrote. A file that is damaged anywhere is refused before anything is written, with an AgentError `session` that names
 * the line. An import that was cut off is made whole by the same call. Another session of the same id is left alone: import under another `id`,
 * which only a session can be of which no run is open, since what an open run did is known by its session's id. Whoever made the file decides what
 * the session says and allows: import only from those whom you would let change the stores.
 */
export async function importSession(options: ImportOptions, source: ExportSource): Promise<ImportedSession> {
  checkOptionNames("importSession", options, { log: true, blobs: true, id: true, owner: true, leaseTtlMs: true, now: FUNCTION_OPTION });
  const { log, owner = processOwner(randomId()), leaseTtlMs: ttlMs = 30_000 } = options;
  const { header, count } = await checkExport(source);
  const session = (options.id ?? header.session) as SessionId;
  checkSessionId(session);
  if (session !== header.session && header.open)
    throw sessionError(
      session,
      `Session "${header.session}" has a run that is not over, and can be imported under its own id alone: as "${session}" its calls could be made again. End the run where it was exported, and export it again.`,
    );
  return atAgentBoundary(session, async () => {
    await using lease = await log.acquire(sessionLog(session), { owner, ttlMs });
    if ((await log.head(sessionLog(session))) > count) throw otherSession(session);
    // Awaited here: the lease is held until all of it is written.
    return await new Import(options, header, session, lease).run(source);
  });
}

async function checkExport(source: ExportSource): Promise<{ readonly header: ExportHeader; readonly count: number }> {
  let header: ExportHeader | undefined;
  // Of its own log.
  let count = 0;
  try {
    for await (const part of readExport(source())) {
      if (part.type === "header") header = part.header;
      if (part.type === "record" && header !== undefined && part.record.log === sessionLog(header.session)) count++;
    }
  } catch (error) {
    if (!LogError.is(error)) throw error;
    throw sessionError(header?.session ?? "*", error.message, error);
  }
  if (header !== undefined && count > 0) return { header, count };
  throw sessionError(header?.session ?? "*", "The export holds no record of its session. Export the session anew.");
}

class Import {
  readonly #options: ImportOptions;
  readonly #header: ExportHeader;
  readonly #session: SessionId;
  readonly #lease: Lease;
  /** The digest that a blob has here, where it is another than it had. */
  readonly #digests = new Map<Digest, Digest>();
  #batch: ExportedRecord[] = [];
  #chars = 0;
  #records = 0;
  #blobs = 0;
  #noBlobs = 0;
  #keptTimes = true;

  constructor(options: ImportOptions, header: ExportHeader, session: SessionId, lease: Lease) {
    this.#options = options;
    this.#header = header;
    this.#session = session;
    this.#lease = lease;
  }

  async run(source: ExportSource): Promise<ImportedSession> {
    const { log, blobs } = this.#options;
    for await (const part of readExport(source()))
      switch (part.type) {
        case "blob": {
          const digest = await blobs.put(part.bytes);
          if (digest !== part.digest) this.#digests.set(part.digest, digest);
          this.#blobs++;
          break;
        }
        case "no-blob":
          this.#noBlobs++;
          break;
        case "record":
          await this.#add(part.record);
          break;
      }
    await this.#flush();
    const state = await foldSession(log, blobs, this.#session);
    await log.append(sessionLog(this.#session), state.seq, [], {
      epoch: this.#lease.epoch,
      durability: "power",
      summary: importedSummary(state, (this.#options.now ?? systemClock.now)()),
    });
    return {
      session: this.#session,
      records: this.#records,
      blobs: this.#blobs,
      noBlobs: this.#noBlobs,
      keptTimes: this.#keptTimes,
    };
  }

  /** An append is of one log and one time. */
  async #add(record: ExportedRecord): Promise<void> {
    const first = this.#batch[0];
    const isFull = this.#batch.length >= RECORDS_PER_APPEND || this.#chars >= CHARS_PER_APPEND;
    if (first !== undefined && (isFull || first.log !== record.log || first.at !== record.at)) await this.#flush();
    const data = this.#dataOf(record);
    this.#chars += JSON.stringify(data).length;
    this.#batch.push({ ...record, data });
  }

  async #flush(): Promise<void> {
    const batch = this.#batch;
    const first = batch[0];
    if (first === undefined) return;
    this.#batch = [];
    this.#chars = 0;
    const { log, blobs } = this.#options;
    const id = this.#logOf(first.log);
    const head = await log.head(id);
    // Of an import that was cut off, or of a history that is here already.
    const there = batch.filter(({ seq }) => seq <= head);
    if (there.length > 0) await this.#compare(id, there);
    const missing = batch.slice(there.length);
    if (missing.length === 0) return;
    // Inboxes are read as they are.
    const keep = id.endsWith("/inbox") ? async (data: JsonObject) => data : (data: JsonObject) => spillLargeData(data, blobs);
    const records = await Promise.all(missing.map(async ({ key, kind, data }) => ({ key, type: kind, data: await keep(data) })));
    const isOwn = id === sessionLog(this.#session);
    if (isOwn) await this.#lease.renew();
    const { at } = await log.append(id, (missing[0] as ExportedRecord).seq - 1, records, {
      at: first.at,
      ...(isOwn && { epoch: this.#lease.epoch }),
    });
    this.#records += missing.length;
    if (at !== first.at) this.#keptTimes = false;
  }

  async #compare(id: LogId, records: readonly ExportedRecord[]): Promise<void> {
    const { log, blobs } = this.#options;
    const first = (records[0] as ExportedRecord).seq;
    for await (const stored of log.read(id, { after: first - 1 })) {
      const record = records[stored.seq - first];
      if (record === undefined) return;
      if (!isSame(await restoreLargeRecord(stored, blobs), record)) throw otherSession(this.#session, id);
    }
  }

  #logOf(log: LogId): LogId {
    if (this.#session === this.#header.session || exportedLog(log, this.#header.session) === "ancestor") return log;
    return `${sessionLog(this.#session)}${log.slice(sessionLog(this.#header.session).length)}` as LogId;
  }

  #dataOf({ kind, data }: ExportedRecord): JsonObject {
    const changed =
      this.#digests.size === 0
        ? data
        : (JSON.parse(
            JSON.stringify(data).replaceAll(/sha256:[0-9a-f]{64}/g, (digest) => this.#digests.get(digest as Digest) ?? digest),
          ) as JsonObject);
    const { parent } = changed;
    if (kind !== "run-start" || !isJsonObject(parent) || typeof parent["session"] !== "string") return changed;
    const above = sessionLog(parent["session"]);
    if (exportedLog(above, this.#header.session) !== "own") return changed;
    return { ...changed, parent: { ...parent, session: this.#logOf(above).slice(sessionLog("").length) } };
  }
}

function isSame(stored: LogRecord, { key, kind, data }: ExportedRecord): boolean {
  return stored.key === key && stored.type === kind && canonicalJson(stored.data) === canonicalJson(data);
}

function otherSession(session: SessionId, log: LogId = sessionLog(session)): Error {
  return sessionError(
    session,
    log.startsWith(sessionLog(session))
      ? `There is a session "${session}" already, which is another than the exported one or has gone on since. It was left as it is. Import it under another id, or delete that one first.`
      : `The session shares its history with "${log.slice(sessionLog("").length)}", and there is another session of that id here. It can't be imported into this store.`,
  );
}

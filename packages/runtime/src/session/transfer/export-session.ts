import {
  type BlobStore,
  type Digest,
  type EventLog,
  inboxLog,
  LogError,
  type LogId,
  sessionLog,
  sessionOf,
  type SessionId,
} from "@keelson/protocol";
import { checkOptionNames } from "../../json/option-names.ts";
import { systemClock } from "../../platform/clock.ts";
import { foldSession } from "../fold-session.ts";
import { restoreLargeRecord } from "../large-records.ts";
import { atAgentBoundary } from "../log-failure.ts";
import { digestsIn } from "../operations/referenced-blobs.ts";
import { isRecordOf } from "../record-data.ts";
import { sessionError } from "../session-error.ts";
import { CHILD_MARK, parentSession } from "../session-id.ts";
import { EXPORT_VERSION, type ExportLine, type LineHash, writeLine } from "./export-line.ts";
import { FUNCTION_OPTION } from "../../json/option-rules.ts";

export interface ExportOptions {
  readonly log: EventLog;
  readonly blobs: BlobStore;
  /** Unix ms. Default: the time of this machine. */
  readonly now?: (() => number) | undefined;
}

const PART_BYTES = 192 * 1024;

/**
 * A session as lines of JSON, each with its end: its log and inbox, those of its children, the history that it shares where it is a fork, and
 * the blobs that all of this refers to. `importSession` reads it. It is plain text also where the stores are encrypted. One record and one blob
 * are held at a time. A session that is being worked on is exported as it is now.
 */
export async function* exportSession(options: ExportOptions, id: string): AsyncGenerator<string> {
  checkOptionNames("exportSession", options, { log: true, blobs: true, now: FUNCTION_OPTION });
  const { log, blobs, now = systemClock.now } = options;
  const session = id as SessionId;
  const parent = parentSession(session);
  if (parent !== undefined)
    throw sessionError(id, `Session "${id}" belongs to a run of "${parent}" and is exported with it: export that one.`);
  const head = await atAgentBoundary(id, () => log.head(sessionLog(session)));
  if (head === 0) throw sessionError(id, `There is no session "${id}".`);
  const hash: LineHash = { before: "" };
  const write = (line: ExportLine): string => writeLine(line, hash);
  const told = new Set<Digest>();
  let records = 0;
  let written = 0;

  async function* blob(digest: Digest): AsyncGenerator<string> {
    if (told.size === told.add(digest).size) return;
    let bytes: Uint8Array;
    try {
      bytes = await blobs.get(digest);
    } catch (error) {
      // A text may speak of digests of other things.
      if (!LogError.is(error, "not-found")) throw error;
      yield write({ type: "no-blob", digest });
      return;
    }
    written++;
    const size = bytes.byteLength;
    for (let from = 0; from === 0 || from < size; from += PART_BYTES)
      yield write({ type: "blob", digest, size, from, base64: Buffer.from(bytes.subarray(from, from + PART_BYTES)).toString("base64") });
  }

  async function* logLines(name: LogId, upTo: number): AsyncGenerator<string> {
    if (upTo === 0) return;
    for await (const stored of log.read(name)) {
      const { seq, at, key, type: kind, data } = await restoreLargeRecord(stored, blobs);
      for (const digest of digestsIn(data)) yield* blob(digest);
      yield write({ type: "record", log: name, seq, at, key, kind, data });
      records++;
      if (seq >= upTo) return;
    }
  }

  /** The histories that a session begins with, the oldest first. */
  async function* ancestors(of: SessionId): AsyncGenerator<string> {
    for await (const first of log.read(sessionLog(of))) {
      const from = isRecordOf(first, "session-create") ? first.data.parent : undefined;
      if (from === undefined || from.seq === 0) return;
      yield* ancestors(from.session);
      yield* logLines(sessionLog(from.session), from.seq);
      return;
    }
  }

  const { run } = await atAgentBoundary(id, () => foldSession(log, blobs, session, head));
  yield write({
    type: "keelson-session",
    v: EXPORT_VERSION,
    session,
    open: run !== undefined && run.status !== "ended",
    exportedAt: now(),
  });
  yield* ancestors(session);
  yield* logLines(sessionLog(session), head);
  yield* logLines(inboxLog(session), await log.head(inboxLog(session)));
  for await (const child of childrenOf(log, session)) {
    yield* logLines(sessionLog(child), await log.head(sessionLog(child)));
    yield* logLines(inboxLog(child), await log.head(inboxLog(child)));
  }
  yield write({ type: "end", records, blobs: written });
}

async function* childrenOf(log: EventLog, session: SessionId): AsyncGenerator<SessionId> {
  for (let after: string | undefined; ;) {
    const page = await log.list({ prefix: `${sessionLog(session)}${CHILD_MARK}`, limit: 500, ...(after !== undefined && { after }) });
    for (const info of page) {
      const child = sessionOf(info.log);
      if (child !== undefined) yield child;
    }
    after = page.at(-1)?.log;
    if (page.length < 500) return;
  }
}

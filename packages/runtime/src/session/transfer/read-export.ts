import { type Digest, inboxLog, type JsonObject, LogError, type LogId, sessionLog, sessionOf, type SessionId } from "@keelson/protocol";
import { CHILD_MARK } from "../session-id.ts";
import { damagedLine, type ExportLine, type LineHash, readLine } from "./export-line.ts";
import { linesOf } from "./lines-of.ts";

export type ExportHeader = Extract<ExportLine, { type: "keelson-session" }>;
export type ExportedRecord = Extract<ExportLine, { type: "record" }>;

export type ExportPart =
  | { readonly type: "header"; readonly header: ExportHeader }
  | { readonly type: "blob"; readonly digest: Digest; readonly bytes: Uint8Array }
  | { readonly type: "no-blob"; readonly digest: Digest }
  | { readonly type: "record"; readonly record: ExportedRecord };

/** What a log is to the session of an export; nothing for one that has no place in it. */
export type ExportedLog = "own" | "ancestor";

/**
 * The parts of an export, each as soon as its lines are there and are what was written.
 * @throws LogError `corrupt` that names the first line that is not, also where the last is missing
 */
export async function* readExport(source: AsyncIterable<Uint8Array | string>): AsyncGenerator<ExportPart> {
  const hash: LineHash = { before: "" };
  const ends = new Map<LogId, number>();
  let [number, records, blobs] = [0, 0, 0];
  let header: ExportHeader | undefined;
  let open: { readonly digest: Digest; readonly size: number; readonly parts: Uint8Array[]; got: number } | undefined;
  let ended = false;
  for await (const text of linesOf(source)) {
    number++;
    if (ended) throw damagedLine(number, "it stands behind the last line of the export");
    const line = readLine(text, number, hash);
    if (open !== undefined && line.type !== "blob") throw damagedLine(number, "the blob before it is not whole");
    switch (line.type) {
      case "keelson-session":
        if (header !== undefined) throw damagedLine(number, "it is a second first line");
        header = line;
        yield { type: "header", header };
        break;
      case "blob": {
        open ??= { digest: line.digest, size: line.size, parts: [], got: 0 };
        if (open.digest !== line.digest || open.size !== line.size || open.got !== line.from || typeof line.base64 !== "string")
          throw damagedLine(number, "it is no part of the blob that it follows");
        const part = Buffer.from(line.base64, "base64");
        open.parts.push(part);
        open.got += part.byteLength;
        if (open.got > open.size) throw damagedLine(number, "its blob is longer than it says");
        if (open.got < open.size) break;
        blobs++;
        yield { type: "blob", digest: open.digest, bytes: new Uint8Array(Buffer.concat(open.parts)) };
        open = undefined;
        break;
      }
      case "no-blob":
        yield { type: "no-blob", digest: line.digest };
        break;
      case "record":
        if (header === undefined || !isRecord(line) || exportedLog(line.log, header.session) === undefined)
          throw damagedLine(number, "it is no record of this session");
        if (line.seq !== (ends.get(line.log) ?? 0) + 1) throw damagedLine(number, `records before it are missing from log "${line.log}"`);
        ends.set(line.log, line.seq);
        records++;
        yield { type: "record", record: line };
        break;
      case "end":
        if (line.records !== records || line.blobs !== blobs)
          throw damagedLine(number, "there are not as many records and blobs as it says");
        ended = true;
        break;
      default:
        throw damagedLine(number, "it is of a kind that this version does not know");
    }
  }
  if (ended) return;
  throw new LogError({
    kind: "corrupt",
    log: `line ${number + 1}`,
    message: `The export ends at line ${number} and its last line is missing: it was cut off. Export the session anew, or take another copy of the file.`,
  });
}

export function exportedLog(log: LogId, session: SessionId): ExportedLog | undefined {
  const own = sessionLog(session);
  if (log === own || log === inboxLog(session)) return "own";
  const of = log.endsWith("/inbox") ? sessionOf(log.slice(0, -"/inbox".length)) : sessionOf(log);
  if (of?.startsWith(`${session}${CHILD_MARK}`) === true) return "own";
  return sessionOf(log) === undefined ? undefined : "ancestor";
}

function isRecord({ log, seq, at, key, kind, data }: { readonly [Name in keyof ExportedRecord]: unknown }): boolean {
  const isObject = typeof data === "object" && data !== null && !Array.isArray(data);
  return (
    typeof log === "string" &&
    Number.isSafeInteger(seq) &&
    Number.isSafeInteger(at) &&
    typeof key === "string" &&
    typeof kind === "string" &&
    isObject
  );
}

/** @param value that of a member of a record */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

import { type Digest, LogError, type JsonObject, type LogId, type SessionId } from "@keelson/protocol";
import { nodeCrypto } from "../../platform/node-crypto.ts";

/** A change that an older version would misread takes the next number. */
export const EXPORT_VERSION = 1;

/** The lines of an export, in their order: the header, then blobs and records, each blob before what refers to it, then the end. */
export type ExportLine =
  | {
      readonly type: "keelson-session";
      readonly v: number;
      readonly session: SessionId;
      /** Whether a run of it was not over. */
      readonly open: boolean;
      /** Unix ms. */
      readonly exportedAt: number;
    }
  /** Bytes of a blob, as base64; `size` is that of all its parts. */
  | { readonly type: "blob"; readonly digest: Digest; readonly size: number; readonly from: number; readonly base64: string }
  /** What looks like the digest of a blob, and none is there. */
  | { readonly type: "no-blob"; readonly digest: Digest }
  | {
      readonly type: "record";
      readonly log: LogId;
      readonly seq: number;
      readonly at: number;
      readonly key: string;
      readonly kind: string;
      readonly data: JsonObject;
    }
  | { readonly type: "end"; readonly records: number; readonly blobs: number };

/** Each line ends with a hash that is made with that of the line before: what is changed, missing or moved shows at its line. */
const SUFFIX = /,"hash":"([0-9a-f]{64})"\}$/;

export interface LineHash {
  /** As hex; empty before the first line. */
  before: string;
}

export function writeLine(line: ExportLine, hash: LineHash): string {
  const text = JSON.stringify(line).slice(0, -1);
  hash.before = hashOf(hash.before, text);
  return `${text},"hash":"${hash.before}"}\n`;
}

/** @throws LogError `corrupt`, naming the line */
export function readLine(text: string, number: number, hash: LineHash): ExportLine {
  const suffix = SUFFIX.exec(text);
  if (suffix === null) {
    throw damagedLine(
      number,
      number === 1 ? "it is no line of an exported session" : "it has no hash at its end, so it was cut off or is of something else",
    );
  }
  const content = text.slice(0, suffix.index);
  if (hashOf(hash.before, content) !== suffix[1])
    throw damagedLine(number, "its hash is of another text: the line was changed, or lines before it are missing, were added or moved");
  hash.before = suffix[1] as string;
  const line = JSON.parse(`${content}}`) as ExportLine;
  if (number === 1 && (line.type !== "keelson-session" || typeof line.session !== "string"))
    throw damagedLine(number, "it is not the first line of an exported session");
  if (line.type === "keelson-session" && line.v > EXPORT_VERSION)
    throw new LogError({
      kind: "invalid-input",
      message: `The export has the format version ${line.v}; this version of Keelson reads versions up to ${EXPORT_VERSION}. Update Keelson. Nothing was imported.`,
    });
  return line;
}

export function damagedLine(number: number, reason: string): LogError {
  return new LogError({
    kind: "corrupt",
    log: `line ${number}`,
    message: `Line ${number} of the export is damaged: ${reason}. Nothing of it can be relied on from there. Export the session anew, or take another copy of the file.`,
  });
}

function hashOf(before: string, text: string): string {
  return nodeCrypto().hash("sha256", `${before}\n${text}`, "hex");
}

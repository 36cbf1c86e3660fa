import type { JsonObject, LogId, LogRecord, NewRecord } from "@keelson/protocol";
import { canonicalJson } from "../../json/canonical-json.ts";
import { nodeCrypto } from "../../platform/node-crypto.ts";

/** The member of a record's data that its place and hash stand in. */
const CHAIN = "~chain";

/** What the hash of the first record is made with. */
export const START: Link = { seq: 0, hash: "" };

/** Where a chain has come to. */
export interface Link {
  readonly seq: number;
  /** SHA-256 as hex, made with that of the record before; empty where there is none. */
  readonly hash: string;
}

/** What is wrong with a record, beside those before it. */
export type RecordProblem =
  /** There is no record at this place, and there are later ones. */
  | "missing"
  /** It was written at another place: records before it are missing, were added, or stand in another order. */
  | "moved"
  /** It, or what it says of the record before it, is not what was written. */
  | "changed";

/** A record as it goes into a log, with the hash that makes it the one behind `before`. */
export function chained(log: LogId, before: Link, { key, type, data }: NewRecord): { readonly record: NewRecord; readonly link: Link } {
  const seq = before.seq + 1;
  const link = { seq, hash: hashOf(log, seq, before.hash, { key, type, data }) };
  return { record: { key, type, data: { ...data, [CHAIN]: `${seq}:${link.hash}` } }, link };
}

export function isChained({ data }: NewRecord): boolean {
  return data[CHAIN] !== undefined;
}

/** The record as it was appended. */
export function withoutLink<R extends NewRecord>(record: R): R {
  if (!isChained(record)) return record;
  const { [CHAIN]: _link, ...data } = record.data;
  return { ...record, data: data as JsonObject };
}

/**
 * Where the chain has come to with this record. One that was written without a hash is linked by what it holds, so that a change of it is
 * noticed by the one behind it.
 */
export function linkOf(log: LogId, record: LogRecord): Link {
  const { seq, data } = record;
  const stored = data[CHAIN];
  if (stored === undefined) return { seq, hash: hashOf(log, seq, "", record) };
  return { seq, hash: String(stored).slice(String(stored).indexOf(":") + 1) };
}

/** @param before the record before it, where that is known */
export function problemWith(log: LogId, before: Link | undefined, record: LogRecord): RecordProblem | undefined {
  const { seq, data } = record;
  if (before !== undefined && seq !== before.seq + 1) return "missing";
  const stored = data[CHAIN];
  if (stored === undefined) return undefined;
  if (typeof stored !== "string" || !/^\d+:[0-9a-f]{64}$/.test(stored)) return "changed";
  if (Number(stored.slice(0, stored.indexOf(":"))) !== seq) return "moved";
  if (before === undefined) return undefined;
  return hashOf(log, seq, before.hash, withoutLink(record)) === linkOf(log, record).hash ? undefined : "changed";
}

/** In words, with the place. */
export function describeProblem(log: LogId, seq: number, problem: RecordProblem): string {
  const what = `Record ${seq} of log "${log}"`;
  switch (problem) {
    case "missing":
      return `${what} is missing.`;
    case "moved":
      return `${what} was written at another place: records before it are missing, were added, or stand in another order.`;
    case "changed":
      return `${what} is not what was written there, or follows another record than it did.`;
  }
}

/** Of canonical JSON, since a database may keep the members of objects in another order. When a log took a record is not part of it. */
function hashOf(log: LogId, seq: number, before: string, { key, type, data }: NewRecord): string {
  return nodeCrypto().hash("sha256", `${JSON.stringify([before, log, seq, key, type])}${canonicalJson(data)}`, "hex");
}

import { type JsonObject, type JsonValue, type Scope, StateError, type StoredValue, type StoreOptions } from "@keelson/protocol";
import { checkOptionNames } from "../../json/option-names.ts";
import { parseJson } from "../../json/parse-json.ts";
import { scopeName } from "./state-scope.ts";

/** In UTF-8. Long enough for paths, and short enough for an index of every database. */
export const MAX_KEY_BYTES = 1024;
/** What one value may hold unless the store is told otherwise. */
export const MAX_VALUE_BYTES: number = 16 * 1024 * 1024;

/** The last moment that a `Date` holds: what would expire later expires then, which every database can keep. */
export const LAST_TIME_MS = 8.64e15;

/** What a store keeps of a key. */
export interface StateEntry {
  readonly version: number;
  /** JSON text. */
  readonly value: string;
  /** JSON text of an object. */
  readonly metadata: string | undefined;
  /** Unix ms from which on it is as if it had been deleted. */
  readonly expiresAt: number | undefined;
  readonly tier: string | undefined;
  readonly lifetime: string | undefined;
  readonly contentKind: string | undefined;
  /** From 0 to 1. */
  readonly salience: number | undefined;
}

/** A write that was looked at: nothing of it can change or fail any more but for its version. */
export interface StateWrite extends Omit<StateEntry, "version" | "expiresAt"> {
  /** See {@link scopeName}. */
  readonly scope: string;
  readonly key: string;
  readonly ifVersion: number | undefined;
  /** A whole number. */
  readonly ttlMs: number | undefined;
}

const OPTIONS = { ifVersion: true, ttlMs: true, tier: true, lifetime: true, contentKind: true, salience: true, metadata: true } as const;
const TIERS: readonly unknown[] = ["hot", "warm", "cold"];
const LIFETIMES: readonly unknown[] = ["transient", "session", "durable"];

/** @throws StateError `invalid-input`, or `serialization` where the value is no JSON */
export function encodeWrite(
  scope: Scope,
  key: string,
  value: JsonValue,
  options: StoreOptions = {},
  maxValueBytes: number = MAX_VALUE_BYTES,
): StateWrite {
  assertKey(key);
  checkOptionNames(`the write of "${key}"`, options, OPTIONS);
  const { ifVersion, ttlMs, tier, lifetime, contentKind, salience, metadata } = options;
  const hold = (holds: boolean, problem: string): void => {
    if (!holds) throw invalid(`The write of "${key}" ${problem}`);
  };
  hold(
    ifVersion === undefined || (Number.isSafeInteger(ifVersion) && ifVersion >= 0),
    `has ifVersion ${ifVersion}: give a whole number, 0 for a key that must be missing.`,
  );
  hold(ttlMs === undefined || (Number.isFinite(ttlMs) && ttlMs > 0), `has ttlMs ${ttlMs}: give milliseconds above 0.`);
  hold(tier === undefined || TIERS.includes(tier), `has tier "${tier}": use ${TIERS.join(", ")}.`);
  hold(lifetime === undefined || LIFETIMES.includes(lifetime), `has lifetime "${lifetime}": use ${LIFETIMES.join(", ")}.`);
  hold(contentKind === undefined || (typeof contentKind === "string" && contentKind.length > 0), `has a contentKind that is no word.`);
  hold(salience === undefined || (salience >= 0 && salience <= 1), `has salience ${salience}: give a number from 0 to 1.`);
  hold(metadata === undefined || isObject(metadata), `has metadata that is no JSON object.`);
  const text = jsonText(key, "value", value);
  // A UTF-16 code unit takes at most three bytes, so that most values need no counting.
  const bytes = text.length * 3 > maxValueBytes ? Buffer.byteLength(text) : 0;
  hold(
    bytes <= maxValueBytes,
    `has a value of ${bytes} bytes, over the limit of ${maxValueBytes}. Put large content into the blob store and keep its digest, or raise maxValueBytes.`,
  );
  return {
    scope: scopeName(scope),
    key,
    value: text,
    metadata: metadata && jsonText(key, "metadata", metadata),
    ifVersion,
    ttlMs: ttlMs === undefined ? undefined : Math.min(Math.ceil(ttlMs), LAST_TIME_MS),
    tier,
    lifetime,
    contentKind,
    salience,
  };
}

/**
 * What the key holds after a write. `current` is what it held, expired or not.
 * @throws StateError `conflict`
 */
export function planWrite(write: StateWrite, current: StateEntry | undefined, now: number): StateEntry {
  const { key, ifVersion, ttlMs, value, metadata, tier, lifetime, contentKind, salience } = write;
  const actualVersion = isLive(current, now) ? current.version : 0;
  if (ifVersion !== undefined && ifVersion !== actualVersion)
    throw new StateError({
      kind: "conflict",
      key,
      actualVersion,
      message: `"${key}" in ${write.scope} has version ${actualVersion}, not ${ifVersion}${actualVersion === 0 ? ": there is no such key" : ""}. Read it again, and decide anew.`,
    });
  return {
    version: actualVersion + 1,
    value,
    metadata,
    expiresAt: ttlMs === undefined ? undefined : Math.min(now + ttlMs, LAST_TIME_MS),
    tier,
    lifetime,
    contentKind,
    salience,
  };
}

/** Whether readers see it. */
export function isLive(entry: StateEntry | undefined, now: number): entry is StateEntry {
  return entry !== undefined && (entry.expiresAt === undefined || entry.expiresAt > now);
}

/** What readers get of it: members that were not given are missing. Integers of other programs that doubles do not keep are texts. */
export function storedValue({ value, version, metadata, tier, lifetime, contentKind, salience, expiresAt }: StateEntry): StoredValue {
  return {
    value: parseJson(value),
    version,
    ...(metadata !== undefined && { metadata: parseJson(metadata) as JsonObject }),
    ...(tier !== undefined && { tier }),
    ...(lifetime !== undefined && { lifetime }),
    ...(contentKind !== undefined && { contentKind }),
    ...(salience !== undefined && { salience }),
    ...(expiresAt !== undefined && { expiresAt }),
  };
}

/** @throws StateError `invalid-input` unless `key` is a string that every backend can keep */
export function assertKey(key: unknown): asserts key is string {
  if (typeof key !== "string" || key.length === 0 || !key.isWellFormed() || key.includes("\0"))
    throw invalid(
      `A key must be a well-formed string, not empty and without NUL; it is ${typeof key === "string" ? JSON.stringify(key) : typeof key}.`,
    );
  const bytes = Buffer.byteLength(key);
  if (bytes > MAX_KEY_BYTES)
    throw invalid(
      `The key "${key.slice(0, 60)}…" has ${bytes} bytes, over the limit of ${MAX_KEY_BYTES}. Use a shorter one, a digest for instance.`,
    );
}

export function closedStateStore(): StateError {
  return new StateError({ kind: "closed", message: "The state store was disposed of. Create another one to go on." });
}

/** @throws StateError `serialization` where it is no JSON */
export function jsonText(key: string, what: string, value: JsonValue): string {
  let text: string | undefined;
  let cause: unknown;
  try {
    text = JSON.stringify(value);
  } catch (error) {
    cause = error;
  }
  if (text !== undefined) return text;
  throw new StateError(
    {
      kind: "serialization",
      message: `The ${what} of "${key}" is no JSON${cause === undefined ? `: it is of type ${typeof value}` : `: ${(cause as Error).message}`}. Nothing was written.`,
    },
    cause === undefined ? undefined : { cause },
  );
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function invalid(message: string): StateError {
  return new StateError({ kind: "invalid-input", message });
}

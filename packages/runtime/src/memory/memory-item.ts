import type { JsonValue, Scope, StateReader } from "@keelson/protocol";
import { type Provenance, provenanceIn } from "../session/remembered-items.ts";
import { sourcesIn } from "../session/untrusted-sources.ts";

/** Something that is remembered. */
export interface MemoryItem {
  /** Names it within its memory, for models and people. */
  readonly id: string;
  /** In one line. */
  readonly text: string;
  readonly value: JsonValue;
  readonly version: number;
  /** Where it was said or corrected; absent for what no run wrote. */
  readonly from: Provenance | undefined;
  /** Where text that nobody vouches for came from, of all that was in context when it was written. */
  readonly untrusted: readonly string[];
}

/** Where a memory keeps its items: keys of a scope that begin with `prefix`. */
export interface MemoryPlace {
  readonly scope: Scope;
  readonly prefix: string;
}

/** @returns nothing where it was forgotten meanwhile */
export async function readItem(store: StateReader, { scope, prefix }: MemoryPlace, key: string): Promise<MemoryItem | undefined> {
  const stored = await store.read(scope, key);
  if (stored === undefined) return undefined;
  const { value, version, metadata } = stored;
  return {
    id: key.slice(prefix.length),
    text: textOf(value),
    value,
    version,
    from: provenanceIn(metadata),
    untrusted: sourcesIn(metadata),
  };
}

/** A value in one line: a text as it is, of an object its members by name. */
export function textOf(value: JsonValue): string {
  if (typeof value === "string") return value.replace(/\s+/g, " ").trim();
  if (typeof value !== "object" || value === null || Array.isArray(value)) return JSON.stringify(value);
  return Object.entries(value)
    .map(([name, member]) => `${name}: ${textOf(member as JsonValue)}`)
    .join("; ");
}

/** The time after which no id comes any more, in the year 5138. */
const END_OF_TIME = 1e14;

/** An id that sorts before those of earlier items, so that the newest come first in a list of keys. @param unique tells items of one moment apart */
export function newItemId(now: number, unique: string): string {
  return `${(END_OF_TIME - Math.floor(now)).toString(36).padStart(9, "0")}-${unique}`;
}

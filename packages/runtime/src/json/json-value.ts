import type { JsonValue } from "@keelson/protocol";
import { isJson } from "./is-json.ts";
import { MAX_JSON_DEPTH } from "./max-json-depth.ts";
import { putMember } from "./put-member.ts";

/** The lists and objects, with their members, that one value may hold. */
const MAX_MEMBERS = 10_000_000;

interface Walk {
  /** The objects that contain the value, from the top. */
  readonly ancestors: object[];
  members: number;
}

/**
 * Makes JSON of any value, as `JSON.stringify` would, but without a value that makes it throw. A bigint is the text of its digits, a
 * date its ISO text, an invalid date and a number that JSON has no word for are `null`, a `Map` with text keys is an object, any other
 * `Map` and a `Set` are lists, bytes are base64, an error is its name and message. A text in brackets replaces what cannot be written:
 * `[circular]`, `[too deep]`, `[not readable: …]`. The same value gives the same JSON.
 * @throws RangeError if the value has more than ten million members
 */
export function jsonValue(value: unknown): JsonValue {
  return convert(value, "", { ancestors: [], members: 0 }) ?? null;
}

/** A value that is JSON already as it is, any other as {@link jsonValue} makes it. @throws RangeError as `jsonValue` */
export function asJson(value: unknown): JsonValue {
  return isJson(value) ? (value as JsonValue) : jsonValue(value);
}

/** @returns `undefined` for what JSON leaves out */
function convert(value: unknown, name: string, walk: Walk): JsonValue | undefined {
  switch (typeof value) {
    case "string":
    case "boolean":
      return value;
    case "number":
      return Number.isFinite(value) ? value + 0 : null;
    case "bigint":
      return String(value);
    case "object":
      return value === null ? null : convertObject(value, name, walk);
    default:
      return undefined;
  }
}

function convertObject(value: object, name: string, walk: Walk): JsonValue | undefined {
  const { ancestors } = walk;
  if (ancestors.includes(value)) return "[circular]";
  if (ancestors.length >= MAX_JSON_DEPTH) return "[too deep]";
  ancestors.push(value);
  try {
    return convertByKind(value, name, walk);
  } catch (error) {
    if (error instanceof TooManyMembers) throw error;
    return `[not readable: ${messageOf(error)}]`;
  } finally {
    ancestors.pop();
  }
}

function convertByKind(value: object, name: string, walk: Walk): JsonValue | undefined {
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (value instanceof Number || value instanceof String || value instanceof Boolean || value instanceof BigInt)
    return convert(value.valueOf(), name, walk);
  if (ArrayBuffer.isView(value)) return base64(new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
  if (value instanceof ArrayBuffer) return base64(new Uint8Array(value));
  const { toJSON } = value as { readonly toJSON?: unknown };
  if (typeof toJSON === "function") return convert(toJSON.call(value, name), name, walk);
  if (value instanceof Map) {
    const pairs = [...(value as ReadonlyMap<unknown, unknown>)];
    return pairs.every(([key]) => typeof key === "string") ? members(pairs as [string, unknown][], walk) : items(pairs, walk);
  }
  if (value instanceof Set) return items([...(value as ReadonlySet<unknown>)], walk);
  if (value instanceof Error) return { name: value.name, message: value.message };
  if (value instanceof RegExp) return String(value);
  if (value instanceof Promise) return "[promise]";
  if (Array.isArray(value)) return items(value, walk);
  return members(
    Object.keys(value).map((key) => [key, () => (value as { readonly [key: string]: unknown })[key]] as const),
    walk,
    (read) => (read as () => unknown)(),
  );
}

function items(list: readonly unknown[], walk: Walk): JsonValue {
  count(list.length, walk);
  return Array.from(list, (item, index) => convert(item, String(index), walk) ?? null);
}

/** @param read gives the value of a member: a getter that throws makes its own member unreadable, and no other */
function members(pairs: readonly (readonly [string, unknown])[], walk: Walk, read?: (member: unknown) => unknown): JsonValue {
  count(pairs.length, walk);
  const object: { [name: string]: JsonValue } = {};
  for (const [key, member] of pairs) {
    let value: JsonValue | undefined;
    try {
      value = convert(read === undefined ? member : read(member), key, walk);
    } catch (error) {
      if (error instanceof TooManyMembers) throw error;
      value = `[not readable: ${messageOf(error)}]`;
    }
    if (value !== undefined) putMember(object, key, value);
  }
  return object;
}

class TooManyMembers extends RangeError {}

function count(more: number, walk: Walk): void {
  walk.members += more;
  if (walk.members > MAX_MEMBERS) throw new TooManyMembers(`it has more than ${MAX_MEMBERS} members`);
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}

function messageOf(error: unknown): string {
  try {
    return error instanceof Error ? error.message : String(error);
  } catch {
    return "it threw something that is no text";
  }
}

import { DecodeError } from "../errors/decode-error.ts";
import type { JsonObject, JsonValue } from "../json.ts";

/**
 * Reads and writes one kind of payload. `decode` takes what `JSON.parse` gave and checks it; where nothing needs to change
 * it returns the very same object, unknown fields included. `encode` undoes what `decode` changed:
 * `decode(encode(x))` equals `x`, and `encode(decode(y))` equals `y` unless `y` uses an old name.
 */
export interface Codec<T> {
  /** @throws DecodeError with the path to what is wrong */
  decode(value: unknown): T;
  encode(value: T): JsonValue;
  /** The same, as a part of something larger: its refusals still look for their path. */
  readonly part?: Codec<T>;
}

/** A field that may be absent. */
export interface OptionalCodec<T> extends Codec<T> {
  readonly optional: true;
}

/** One codec for every field of `T`, so that a new field does not compile without one. */
export type FieldsOf<T> = { readonly [K in keyof T]-?: undefined extends T[K] ? OptionalCodec<Exclude<T[K], undefined>> : Codec<T[K]> };

interface Refusal {
  readonly problem: string;
  /** Set when the payload is of a version that this program does not know. */
  readonly version?: { readonly payload: string; readonly version: number; readonly supported: number };
}

/** What `decode` throws while it climbs out; `decode` of the outermost codec makes it a `DecodeError` with the path. */
class Mismatch {
  readonly refusal: Refusal;
  path = "";
  constructor(refusal: Refusal) {
    this.refusal = refusal;
  }
}

/** Refuses what a codec was given: for codecs with rules of their own. */
export function refuse(problem: string, version?: Refusal["version"]): never {
  // No error yet: it has no path. Always caught by `payload`.
  throw new Mismatch({ problem, ...(version && { version }) });
}

function partOf<T>(codec: Codec<T>): Codec<T> {
  return codec.part ?? codec;
}

/** Says where in the outer value an inner one was refused. */
function climb(error: unknown, step: string): never {
  if (error instanceof Mismatch) error.path = error.path === "" || error.path.startsWith("[") ? step + error.path : `${step}.${error.path}`;
  throw error;
}

/** The outermost codec of a payload: gives errors their class, their path and the name of what was read. */
export function payload<T>(name: string, codec: Codec<T>): Codec<T> {
  const part = partOf(codec);
  return {
    decode(value) {
      try {
        return part.decode(value);
      } catch (error) {
        if (!(error instanceof Mismatch)) throw error;
        const {
          path,
          refusal: { problem, version },
        } = error;
        const message = `${path === "" ? name : `${name}: ${path}`}: ${problem}`;
        throw new DecodeError(
          version === undefined ? { kind: "invalid-data", path, message } : { kind: "unsupported-version", ...version, message },
        );
      }
    },
    encode: (value) => part.encode(value),
    part,
  };
}

function describe(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "an object";
  const text = JSON.stringify(value) ?? typeof value;
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}

function check<T extends JsonValue>(expected: string, accepts: (value: unknown) => boolean): Codec<T> {
  return {
    decode(value) {
      if (!accepts(value)) refuse(`expected ${expected}, got ${describe(value)}`);
      return value as T;
    },
    encode: (value) => value,
  };
}

/** Any string; branded ids and open unions of strings too. */
export function text<T extends string = string>(): Codec<T> {
  return TEXT as Codec<T>;
}
const TEXT: Codec<string> = check("a string", (value) => typeof value === "string");
export const number: Codec<number> = check("a number", (value) => typeof value === "number" && Number.isFinite(value));
export const count: Codec<number> = check(
  "a whole number that is not negative",
  (value) => typeof value === "number" && Number.isSafeInteger(value) && value >= 0,
);
export const ratio: Codec<number> = check("a number from 0 to 1", (value) => typeof value === "number" && value >= 0 && value <= 1);
export const flag: Codec<boolean> = check("true or false", (value) => typeof value === "boolean");
export const yes: Codec<true> = check("true", (value) => value === true);
/** Any JSON value. What is inside it is nobody's business here. */
export const json: Codec<JsonValue> = check(
  "a JSON value",
  (value) => value !== undefined && typeof value !== "function" && typeof value !== "symbol" && typeof value !== "bigint",
);
export const jsonObject: Codec<JsonObject> = check("an object", isObject);

/** One of these strings and no other: for words that grant rights or give a shape. */
export function oneOf<const T extends string>(...words: readonly T[]): Codec<T> {
  return check(`one of ${words.join(", ")}`, (value) => (words as readonly unknown[]).includes(value));
}

/** Any string, one of these or one that a later version added: for words that only describe. Readers keep a `default`. */
export function word<T extends string>(): Codec<T> {
  return text<T>();
}

export function optional<T>(whole: Codec<T>): OptionalCodec<T> {
  const codec = partOf(whole);
  return { decode: (value) => codec.decode(value), encode: (value) => codec.encode(value), optional: true };
}

export function nullable<T>(whole: Codec<T>): Codec<T | null> {
  const codec = partOf(whole);
  return {
    decode: (value) => (value === null ? null : codec.decode(value)),
    encode: (value) => (value === null ? null : codec.encode(value)),
  };
}

export function list<T>(whole: Codec<T>): Codec<readonly T[]> {
  const item = partOf(whole);
  return {
    decode(value) {
      if (!Array.isArray(value)) refuse(`expected a list, got ${describe(value)}`);
      return mapChanged(value as readonly unknown[], (one, index) => {
        try {
          return item.decode(one);
        } catch (error) {
          return climb(error, `[${index}]`);
        }
      });
    },
    encode: (value) => mapChanged(value, (one) => item.encode(one)),
  };
}

/** `map` that gives back the list it was given when nothing changed: its items are of both types then, which the compiler can't see. */
function mapChanged<A, B>(items: readonly A[], change: (item: A, index: number) => B): readonly B[] {
  const given: readonly unknown[] = items;
  const changed = items.map(change);
  return changed.every((item, index) => item === given[index]) ? (given as readonly B[]) : changed;
}

/** An object with at least these fields. `aliases` are old names of fields: they are read, and never written. */
export function fields<T extends object>(
  members: FieldsOf<T>,
  options: { readonly aliases?: Readonly<Record<string, keyof T & string>> } = {},
): Codec<T> {
  const entries = (Object.entries(members) as [string, Codec<unknown> | OptionalCodec<unknown>][]).map(
    ([name, codec]) => [name, partOf(codec), "optional" in codec] as const,
  );
  const aliases = Object.entries(options.aliases ?? {});

  const change = (
    source: Record<string, unknown>,
    act: (codec: Codec<unknown>, value: unknown, name: string) => unknown,
  ): Record<string, unknown> => {
    let changed: Record<string, unknown> | undefined;
    for (const [name, codec, mayBeAbsent] of entries) {
      const value = source[name];
      if (value === undefined && mayBeAbsent) continue;
      const result = act(codec, value, name);
      if (result !== value) (changed ??= { ...source })[name] = result;
    }
    return changed ?? source;
  };

  return {
    decode(value) {
      if (!isObject(value)) refuse(`expected an object, got ${describe(value)}`);
      const source = aliases.length === 0 ? value : withoutAliases(value, aliases);
      return change(source, (codec, inner, name) => {
        try {
          return codec.decode(inner);
        } catch (error) {
          return climb(error, name);
        }
      }) as T;
    },
    encode: (value) => change(value as Record<string, unknown>, (codec, inner) => codec.encode(inner)) as JsonObject,
  };
}

function withoutAliases(source: Record<string, unknown>, aliases: readonly (readonly [string, string])[]): Record<string, unknown> {
  let renamed = source;
  for (const [alias, name] of aliases) {
    if (renamed[alias] === undefined) continue;
    const { [alias]: value, ...rest } = renamed;
    if (rest[name] !== undefined) refuse(`has both ${JSON.stringify(name)} and its old name ${JSON.stringify(alias)}`);
    renamed = { ...rest, [name]: value };
  }
  return renamed;
}

/** A member this version doesn't know, kept whole. */
export type OtherMember = {
  readonly type: "other";
  readonly raw: JsonValue;
};

/** The member of a union whose `type` is (or may be) `K`. */
export type MemberOf<U, K> = U extends { readonly type: infer T } ? (K extends T ? U : never) : never;
type MembersOf<U extends { readonly type: string }> = { readonly [K in Exclude<U["type"], "other">]: Codec<MemberOf<U, K>> };

/** A member of a union that is told apart by `type`: its other fields. */
export function member<T extends { readonly type: string }>(others: FieldsOf<Omit<T, "type">>): Codec<T> {
  return fields<Omit<T, "type">>(others) as Codec<T>;
}

/**
 * A union told apart by `type`. A member of an unknown `type` becomes `{ type: "other", raw }` and is written as `raw` again.
 * A member that calls itself `other` and has a `raw` (a vendor's own block) is kept as it is.
 */
export function tagged<U extends { readonly type: string }>(
  what: string,
  members: MembersOf<U>,
  options: { readonly other?: Codec<Extract<U, { readonly type: "other" }>> } = {},
): Codec<U | OtherMember> {
  const codecs = new Map((Object.entries(members) as [string, Codec<unknown>][]).map(([type, codec]) => [type, partOf(codec)]));
  const isUnknown = (value: unknown): boolean => {
    if (!isObject(value)) return false;
    const { type } = value;
    return typeof type === "string" && !codecs.has(type) && !(type === "other" && "raw" in value);
  };
  return {
    decode(value) {
      if (!isObject(value)) refuse(`expected ${what}, got ${describe(value)}`);
      const { type } = value;
      if (typeof type !== "string") refuse(`expected ${what} with a string "type", got ${describe(type)} for it`);
      const codec = codecs.get(type);
      if (codec !== undefined) return codec.decode(value) as U;
      if (isUnknown(value)) return { type: "other", raw: value as JsonObject };
      return options.other === undefined ? (value as OtherMember) : options.other.decode(value);
    },
    encode(value) {
      const codec = codecs.get(value.type);
      if (codec !== undefined) return codec.encode(value);
      // Only what `decode` would wrap again is unwrapped: a vendor's block may call itself what a part of ours is called.
      const { type, raw, ...more } = value as OtherMember;
      return type === "other" && isUnknown(raw) && Object.keys(more).length === 0 ? raw : value;
    },
  };
}

/** A further condition on what a codec accepts. */
export function where<T>(whole: Codec<T>, problemOf: (value: T) => string | undefined): Codec<T> {
  const codec = partOf(whole);
  return {
    decode(value) {
      const decoded = codec.decode(value);
      const problem = problemOf(decoded);
      if (problem !== undefined) refuse(problem);
      return decoded;
    },
    encode: (value) => codec.encode(value),
  };
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

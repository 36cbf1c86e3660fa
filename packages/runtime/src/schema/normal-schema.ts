import type { JsonObject, JsonValue } from "@keelson/protocol";
import { compilePattern } from "./keywords.ts";
import { resolveLocalReference } from "./local-reference.ts";

/** Thrown for a schema that has no normal form; the message completes "the schema …". */
export class SchemaProblem extends Error {
  override readonly name = "SchemaProblem";
}

const TYPES: ReadonlySet<JsonValue> = new Set(["string", "number", "integer", "boolean", "null", "object", "array"]);
/** Other words for types that generators write, by the type that they mean. */
const TYPE_WORDS: { readonly [word: string]: string } = {
  str: "string",
  text: "string",
  int: "integer",
  long: "integer",
  float: "number",
  double: "number",
  decimal: "number",
  bool: "boolean",
  dict: "object",
  map: "object",
  list: "array",
  tuple: "array",
};
const MAX_DEPTH = 64;

type Reader = (value: JsonValue, schema: JsonObject) => JsonValue | undefined;

const text: Reader = (value) => (typeof value === "string" ? value : undefined);
const flag: Reader = (value) => (typeof value === "boolean" ? value : undefined);
const any: Reader = (value) => value;
const number: Reader = (value) => (typeof value === "number" && Number.isFinite(value) ? value : undefined);
const count: Reader = (value) => (Number.isInteger(value) && (value as number) >= 0 ? value : undefined);
const list: Reader = (value) => (Array.isArray(value) ? value : undefined);
const names: Reader = (value) =>
  Array.isArray(value) ? [...new Set((value as readonly JsonValue[]).filter((name) => typeof name === "string"))] : undefined;

/** Keywords without schemas in them; a reader returns `undefined` for a value that draft 2020-12 does not allow. */
const PLAIN: { readonly [keyword: string]: Reader } = {
  title: text,
  description: text,
  $comment: () => undefined,
  default: any,
  examples: list,
  deprecated: flag,
  readOnly: flag,
  writeOnly: flag,
  format: text,
  contentEncoding: text,
  contentMediaType: text,
  const: any,
  enum: (value) => (Array.isArray(value) && value.length > 0 ? distinct(value as readonly JsonValue[]) : undefined),
  required: names,
  minLength: count,
  maxLength: count,
  minItems: count,
  maxItems: count,
  minContains: count,
  maxContains: count,
  minProperties: count,
  maxProperties: count,
  uniqueItems: flag,
  pattern: (value) => (typeof value === "string" && compilePattern(value) !== undefined ? value : undefined),
  // Draft 4 has them as flags beside `minimum` and `maximum`.
  minimum: (value, schema) => (schema["exclusiveMinimum"] === true ? undefined : number(value, schema)),
  maximum: (value, schema) => (schema["exclusiveMaximum"] === true ? undefined : number(value, schema)),
  exclusiveMinimum: (value, schema) => number(value === true ? (schema["minimum"] ?? null) : value, schema),
  exclusiveMaximum: (value, schema) => number(value === true ? (schema["maximum"] ?? null) : value, schema),
  multipleOf: (value) => (typeof value === "number" && value > 0 ? value : undefined),
  dependentRequired: (value) => (isObject(value) ? mapValues(value, (required) => names(required ?? null, {})) : undefined),
};
const REFERENCES: ReadonlySet<string> = new Set(["$ref", "$dynamicRef", "$recursiveRef"]);
/** Keywords with one schema, with a list of them, and with schemas by name. */
const SCHEMA: ReadonlySet<string> = new Set(["not", "contains", "propertyNames", "if", "then", "else"]);
const FLAG_OR_SCHEMA: ReadonlySet<string> = new Set(["additionalProperties", "unevaluatedProperties", "unevaluatedItems"]);
const SCHEMA_LIST: ReadonlySet<string> = new Set(["anyOf", "oneOf", "allOf", "prefixItems"]);
const SCHEMA_MAP: ReadonlySet<string> = new Set(["properties", "patternProperties", "dependentSchemas"]);

/**
 * The schema in one form of draft 2020-12, whatever draft or library it comes from: references lead to `$defs` of the root, there
 * are no boolean schemas but for further members, and a keyword with a value that the draft does not allow is left out. Accepts
 * every value that `schema` accepts.
 * @throws SchemaProblem if a reference leads nowhere
 */
export function normalSchema(schema: JsonObject): JsonObject {
  return new Normaliser(schema).run();
}

class Normaliser {
  readonly #root: JsonObject;
  /** Names of definitions by the reference that leads to them. */
  readonly #names = new Map<string, string>();
  readonly #waiting: { readonly name: string; readonly target: JsonValue }[] = [];
  readonly #definitions = new Map<string, JsonObject>();

  constructor(root: JsonObject) {
    this.#root = root;
  }

  run(): JsonObject {
    const root = this.#schema(this.#root, 0);
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift())
      this.#definitions.set(next.name, this.#schema(next.target, 1));
    if (this.#definitions.size === 0) return root;
    const order = Object.keys({ ...objectOf(this.#root["$defs"]), ...objectOf(this.#root["definitions"]) });
    const place = (name: string): number => (order.includes(name) ? order.indexOf(name) : order.length);
    const $defs = Object.fromEntries([...this.#definitions].toSorted(([left], [right]) => place(left) - place(right)));
    // The definitions keep their place, so that a schema in normal form stays as it is.
    const entries = Object.entries(root);
    const before = Object.keys(this.#root).filter((key) => key in root || key === "$defs" || key === "definitions");
    const at = before.findIndex((key) => key === "$defs" || key === "definitions");
    entries.splice(at === -1 ? entries.length : at, 0, ["$defs", $defs]);
    return Object.fromEntries(entries);
  }

  #schema(value: JsonValue | undefined, depth: number): JsonObject {
    if (value === false) return { not: {} };
    if (!isObject(value) || depth > MAX_DEPTH) return {};
    const entries: [string, JsonValue][] = [];
    for (const [keyword, member] of Object.entries(value)) {
      if (member === undefined) continue;
      const read = this.#keyword(keyword, member, value, depth + 1);
      if (read !== undefined) entries.push([REFERENCES.has(keyword) ? "$ref" : keyword, read]);
    }
    const { type, nullable, items, additionalItems, dependencies } = value;
    if (nullable === true && (typeof type === "string" || Array.isArray(type))) addNull(entries);
    if (Array.isArray(items)) {
      // The tuples of earlier drafts.
      const places = (items as readonly JsonValue[]).map((item) => this.#schema(item, depth + 1));
      if (places.length > 0) entries.push(["prefixItems", places]);
      if (additionalItems !== undefined && additionalItems !== true) entries.push(["items", this.#schema(additionalItems, depth + 1)]);
    }
    if (isObject(dependencies)) {
      const required = Object.entries(dependencies).filter((entry): entry is [string, JsonValue[]] => Array.isArray(entry[1]));
      if (required.length > 0)
        entries.push(["dependentRequired", Object.fromEntries(required.map(([name, list]) => [name, names(list, {}) ?? []]))]);
    }
    return Object.fromEntries(entries);
  }

  #keyword(keyword: string, value: JsonValue, schema: JsonObject, depth: number): JsonValue | undefined {
    if (keyword === "type") return typeOf(value);
    if (REFERENCES.has(keyword)) return typeof value === "string" ? this.#reference(value) : undefined;
    if (keyword === "items") return Array.isArray(value) ? undefined : value === true ? {} : this.#schema(value, depth);
    if (keyword === "enum" && value instanceof Array && value.length === 0) return undefined;
    if (Object.hasOwn(PLAIN, keyword)) return PLAIN[keyword]?.(value, schema);
    if (SCHEMA.has(keyword)) return isSchema(value) ? this.#schema(value, depth) : undefined;
    if (FLAG_OR_SCHEMA.has(keyword)) return typeof value === "boolean" ? value : isObject(value) ? this.#schema(value, depth) : undefined;
    if (SCHEMA_LIST.has(keyword))
      return Array.isArray(value) && value.length > 0
        ? (value as readonly JsonValue[]).map((each) => this.#schema(each, depth))
        : undefined;
    if (!SCHEMA_MAP.has(keyword)) return undefined;
    if (Array.isArray(value) && value.length === 0) return {};
    return isObject(value) ? mapValues(value, (each) => this.#schema(each, depth)) : undefined;
  }

  #reference(reference: string): string {
    let name = this.#names.get(reference);
    if (name === undefined) {
      const target = this.#target(reference);
      if (!isSchema(target)) throw new SchemaProblem(`refers to ${JSON.stringify(reference)}, where there is no schema`);
      name = this.#freeName(reference);
      this.#names.set(reference, name);
      this.#waiting.push({ name, target });
    }
    return `#/$defs/${name}`;
  }

  #target(reference: string): unknown {
    if (reference === "#" || reference.startsWith("#/")) return resolveLocalReference(this.#root, reference);
    // By the id or the anchor of a schema within: nothing is fetched.
    const [id = "", fragment = ""] = reference.split("#");
    const base = id === "" ? this.#root : findBy(this.#root, (schema) => schema["$id"] === id || schema["id"] === id);
    if (base === undefined || fragment === "") return base;
    if (fragment.startsWith("/")) return resolveLocalReference(base, `#${fragment}`);
    return findBy(
      base,
      (schema) => schema["$anchor"] === fragment || schema["$dynamicAnchor"] === fragment || schema["$id"] === `#${fragment}`,
    );
  }

  #freeName(reference: string): string {
    const last = reference.slice(reference.lastIndexOf("/") + 1).replaceAll(/[^a-zA-Z0-9_.-]+/g, "_");
    const wanted = last === "" || last === "_" ? "root" : last.slice(0, 64);
    const taken = new Set(this.#names.values());
    for (let at = 1; ; at += 1) {
      const name = at === 1 ? wanted : `${wanted}_${at}`;
      if (!taken.has(name)) return name;
    }
  }
}

function typeOf(value: JsonValue): JsonValue | undefined {
  if (Array.isArray(value)) {
    const types = distinct((value as readonly JsonValue[]).map(typeOf).filter((type) => typeof type === "string"));
    return types.length === 0 ? undefined : types;
  }
  if (typeof value !== "string") return undefined;
  const lower = value.toLowerCase();
  if (TYPES.has(lower)) return lower;
  return Object.hasOwn(TYPE_WORDS, lower) ? TYPE_WORDS[lower] : undefined;
}

function addNull(entries: [string, JsonValue][]): void {
  const entry = entries.find(([keyword]) => keyword === "type");
  if (entry === undefined) return;
  const types = Array.isArray(entry[1]) ? (entry[1] as readonly JsonValue[]) : [entry[1]];
  if (!types.includes("null")) entry[1] = [...types, "null"];
  const values = entries.find(([keyword]) => keyword === "enum");
  if (values !== undefined && !(values[1] as readonly JsonValue[]).includes(null))
    values[1] = [...(values[1] as readonly JsonValue[]), null];
}

function findBy(schema: JsonValue | undefined, isWanted: (schema: JsonObject) => boolean, depth = 0): JsonObject | undefined {
  if (depth > MAX_DEPTH) return undefined;
  if (Array.isArray(schema)) {
    for (const each of schema as readonly JsonValue[]) {
      const found = findBy(each, isWanted, depth + 1);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  if (!isObject(schema)) return undefined;
  if (isWanted(schema)) return schema;
  for (const each of Object.values(schema)) {
    const found = findBy(each, isWanted, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

function distinct(values: readonly JsonValue[]): readonly JsonValue[] {
  return [...new Map(values.map((value) => [JSON.stringify(value), value])).values()];
}

function mapValues(object: JsonObject, change: (value: JsonValue | undefined) => JsonValue | undefined): JsonObject {
  return Object.fromEntries(
    Object.entries(object).flatMap(([name, value]) => {
      const changed = change(value);
      return changed === undefined ? [] : [[name, changed]];
    }),
  );
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return isObject(value) ? value : {};
}

function isSchema(value: unknown): value is JsonObject | boolean {
  return typeof value === "boolean" || isObject(value);
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

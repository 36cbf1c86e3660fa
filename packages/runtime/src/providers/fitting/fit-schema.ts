import type { JsonObject, JsonValue } from "@keelson/protocol";
import { normalSchema, SchemaProblem } from "../../schema/normal-schema.ts";
import { standInName } from "./fit-name.ts";
import { objectForm } from "./object-form.ts";
import { isPortablePattern } from "./portable-pattern.ts";
import { COMMON_NAMES, isFitName, type SchemaRules } from "./wire-rules.ts";

export interface FittedSchema {
  /** The schema for the vendor: it accepts every object that the original accepts. */
  readonly schema: JsonObject;
  /** Conditions of the arguments as a whole that the schema cannot say, in words. */
  readonly notes: readonly string[];
  /** The property keys that were renamed: the original by the key in the vendor's schema. */
  readonly originalKeys: ReadonlyMap<string, string>;
}

/** The reason why no schema could be made that the vendor accepts; completes "its schema …". */
export interface UnfitSchema {
  readonly problem: string;
}

/** The most subschemas of one schema, references followed. */
const MAX_NODES = 4000;
const MAX_WORDS = 300;
const MAX_TERSE_DESCRIPTION = 200;
const ANNOTATIONS: ReadonlySet<string> = new Set(["examples", "default", "title", "deprecated", "readOnly", "writeOnly"]);
const ANY_OF_TYPE: readonly JsonObject[] = [{ type: "string" }, { type: "number" }, { type: "boolean" }, { type: "object" }];

/** A schema of arguments as a vendor accepts it. Never throws. */
export function fitSchema(original: JsonObject, rules: SchemaRules): FittedSchema | UnfitSchema {
  let normal: JsonObject;
  try {
    normal = normalSchema(original);
  } catch (error) {
    if (error instanceof SchemaProblem) return { problem: error.message };
    throw error;
  }
  let length = 0;
  for (const bounds of [
    { maxDepth: rules.maxDepth, isTerse: false },
    { maxDepth: rules.maxDepth, isTerse: true },
    { maxDepth: 6, isTerse: true },
    { maxDepth: 2, isTerse: true },
    { maxDepth: 1, isTerse: true },
  ]) {
    const fitted = new SchemaFitter(normal, rules, bounds).run();
    if (fitted === undefined) return { problem: "accepts no object, and arguments are one" };
    const text = JSON.stringify(fitted.schema);
    length = text.length;
    if (length > rules.maxLength) continue;
    // The same object, so that requests keep what they know of it.
    return text === JSON.stringify(original) ? { ...fitted, schema: original } : fitted;
  }
  return { problem: `has ${length} characters of JSON at its shortest, and ${rules.maxLength} are sent at most` };
}

interface Bounds {
  readonly maxDepth: number;
  readonly isTerse: boolean;
}

class SchemaFitter {
  readonly #root: JsonObject;
  readonly #rules: SchemaRules;
  readonly #bounds: Bounds;
  /** The key in the vendor's schema by the original key. */
  readonly #keys = new Map<string, string>();
  readonly #ownKeys: ReadonlySet<string>;
  #nodes = 0;

  constructor(root: JsonObject, rules: SchemaRules, bounds: Bounds) {
    this.#root = root;
    this.#rules = rules;
    this.#bounds = bounds;
    this.#ownKeys = rules.keys === undefined ? new Set() : keysIn(root);
  }

  run(): FittedSchema | undefined {
    const form = isPlainObject(this.#root) ? { schema: this.#root, notes: [] } : objectForm(this.#root, (name) => this.#key(name));
    if (form === undefined) return undefined;
    const { $defs, ...top } = form.schema;
    const { properties } = top;
    const given: JsonObject = properties === undefined ? { ...top, properties: {} } : top;
    const fitted = this.#schema(given, 0, []);
    const used = this.#rules.references === "inline" || !isObject($defs) ? {} : this.#definitions($defs, fitted);
    const schema = Object.keys(used).length === 0 ? fitted : withDefinitions(fitted, used, form.schema);
    const originalKeys = new Map([...this.#keys].filter(([original, key]) => original !== key).map(([original, key]) => [key, original]));
    return { schema, notes: form.notes, originalKeys };
  }

  /** Those that the schema, or one of them, refers to. */
  #definitions(definitions: JsonObject, from: JsonObject): JsonObject {
    const used = new Map<string, JsonObject>();
    const waiting = referencesIn(from);
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      const definition = definitions[name];
      if (used.has(name) || !isObject(definition)) continue;
      const fitted = this.#schema(definition, 1, []);
      used.set(name, fitted);
      waiting.push(...referencesIn(fitted));
    }
    const order = Object.keys(definitions);
    return Object.fromEntries([...used].toSorted(([left], [right]) => order.indexOf(left) - order.indexOf(right)));
  }

  #schema(schema: JsonObject, depth: number, within: readonly string[]): JsonObject {
    this.#nodes += 1;
    const reference = schema["$ref"];
    if (typeof reference === "string" && this.#rules.references === "inline") return this.#inlined(schema, reference, depth, within);
    if (depth > this.#bounds.maxDepth || this.#nodes > MAX_NODES) return this.#anything(schema);
    const spelled = this.#rules.without === undefined ? schema : spelledOut(schema, this.#rules.without);
    // A part that was joined may be a reference, or have parts of its own.
    return spelled === schema ? this.#lowered(schema, depth, within) : this.#schema(spelled, depth, within);
  }

  #lowered(schema: JsonObject, depth: number, within: readonly string[]): JsonObject {
    const told: string[] = [];
    const entries: [string, JsonValue][] = [];
    const child = (value: JsonValue | undefined): JsonObject => this.#schema(isObject(value) ? value : {}, depth + 1, within);
    for (const [keyword, value] of Object.entries(schema)) {
      if (value === undefined || (this.#bounds.isTerse && ANNOTATIONS.has(keyword))) continue;
      if (this.#rules.without?.includes(keyword) === true) {
        if (!ANNOTATIONS.has(keyword)) told.push(`${keyword}: ${words(value)}`);
        continue;
      }
      const fitted = this.#keyword(keyword, value, schema, child, told);
      if (fitted !== undefined) entries.push([keyword, fitted]);
    }
    const fitted = this.#completed(Object.fromEntries(entries), schema);
    return this.#described(fitted, told);
  }

  #keyword(
    keyword: string,
    value: JsonValue,
    schema: JsonObject,
    child: (value: JsonValue | undefined) => JsonObject,
    told: string[],
  ): JsonValue | undefined {
    const isLowered = this.#rules.tuples === "lower" && schema["prefixItems"] !== undefined;
    switch (keyword) {
      case "properties":
        return this.#properties(value as JsonObject, child);
      case "required":
        return (value as readonly JsonValue[]).map((name) => this.#key(String(name)));
      case "dependentRequired":
        return Object.fromEntries(
          Object.entries(value as JsonObject).map(([name, names]) => [
            this.#key(name),
            (names as readonly JsonValue[]).map((each) => this.#key(String(each))),
          ]),
        );
      case "dependentSchemas":
        return Object.fromEntries(Object.entries(value as JsonObject).map(([name, inner]) => [this.#key(name), child(inner)]));
      case "patternProperties":
        return this.#patternProperties(value as JsonObject, child, told);
      case "additionalProperties":
        // A closed object would refuse the members whose pattern is only described.
        if (value === false && this.#dropsPatterns(schema)) return undefined;
        return isObject(value) ? child(value) : value;
      case "pattern":
        if (this.#rules.patterns === "keep" || isPortablePattern(String(value))) return value;
        told.push(`matches the regular expression ${words(value)}`);
        return undefined;
      case "prefixItems":
        if (isLowered) {
          told.push(`the items in their order: ${words(value)}`);
          return undefined;
        }
        return (value as readonly JsonValue[]).map(child);
      case "items":
        return isLowered ? undefined : child(value);
      case "anyOf":
      case "oneOf":
      case "allOf":
        return (value as readonly JsonValue[]).map(child);
      case "not":
      case "contains":
      case "propertyNames":
      case "if":
      case "then":
      case "else":
      case "unevaluatedProperties":
      case "unevaluatedItems":
        return isObject(value) ? child(value) : value;
      case "description":
        return this.#bounds.isTerse ? cut(String(value), MAX_TERSE_DESCRIPTION) : value;
      default:
        return value;
    }
  }

  #properties(properties: JsonObject, child: (value: JsonValue | undefined) => JsonObject): JsonObject {
    return Object.fromEntries(
      Object.entries(properties).map(([name, schema]) => {
        const key = this.#key(name);
        const fitted = child(schema);
        return [key, key === name ? fitted : this.#described(fitted, [`stands for ${JSON.stringify(name.toWellFormed())}`])];
      }),
    );
  }

  #patternProperties(patterns: JsonObject, child: (value: JsonValue | undefined) => JsonObject, told: string[]): JsonObject | undefined {
    if (this.#rules.patterns === "keep" || Object.keys(patterns).every(isPortablePattern))
      return Object.fromEntries(Object.entries(patterns).map(([pattern, schema]) => [pattern, child(schema)]));
    told.push(`members by patterns of their names: ${words(patterns)}`);
    return undefined;
  }

  #dropsPatterns({ patternProperties }: JsonObject): boolean {
    return this.#rules.patterns !== "keep" && isObject(patternProperties) && !Object.keys(patternProperties).every(isPortablePattern);
  }

  /** Adds the keywords that vendors require: the items of a list, a type. */
  #completed(fitted: JsonObject, schema: JsonObject): JsonObject {
    let result = fitted;
    const types = typesOf(result);
    const tuple = this.#rules.tuples === "lower" ? schema["prefixItems"] : undefined;
    if (Array.isArray(tuple)) {
      const places = [
        ...(tuple as readonly JsonValue[]),
        ...(isObject(schema["items"]) && !isRefusal(schema["items"]) ? [schema["items"]] : []),
      ];
      const distinct = [...new Map(places.map((place) => [JSON.stringify(place), place])).values()];
      const items = distinct.length === 1 ? (distinct[0] as JsonObject) : { anyOf: distinct };
      result = { ...result, items: this.#schema(items, this.#bounds.maxDepth, []) };
    } else if (types.includes("array") && result["items"] === undefined && result["prefixItems"] === undefined)
      result = { ...result, items: this.#typed({}) };
    if (this.#rules.typeInAlternatives === true) result = typeInAlternatives(result);
    return this.#typed(result);
  }

  #typed(schema: JsonObject): JsonObject {
    if (this.#rules.typed !== true || ["type", "anyOf", "oneOf", "allOf", "$ref"].some((keyword) => schema[keyword] !== undefined))
      return schema;
    const values = schema["const"] === undefined ? schema["enum"] : [schema["const"]];
    if (Array.isArray(values)) {
      const types = [...new Set((values as readonly JsonValue[]).map(typeOfValue))];
      return { ...schema, type: types.length === 1 ? (types[0] as string) : types };
    }
    const type =
      schema["properties"] !== undefined || schema["additionalProperties"] !== undefined
        ? "object"
        : schema["items"] !== undefined
          ? "array"
          : schema["pattern"] !== undefined || schema["minLength"] !== undefined || schema["maxLength"] !== undefined
            ? "string"
            : undefined;
    return type === undefined ? { ...schema, anyOf: [...ANY_OF_TYPE, { type: "array", items: { type: "string" } }] } : { ...schema, type };
  }

  #inlined(schema: JsonObject, reference: string, depth: number, within: readonly string[]): JsonObject {
    const { $ref: _, ...beside } = schema;
    const name = reference.slice("#/$defs/".length);
    const target = isObject(this.#root["$defs"]) ? this.#root["$defs"][name] : undefined;
    if (!isObject(target)) return this.#schema(beside, depth, within);
    const isAgain = within.includes(reference);
    if (isAgain || depth > this.#bounds.maxDepth || this.#nodes > MAX_NODES) {
      const { type } = target;
      const shape: JsonObject = type === "object" ? { type } : type === "array" ? { type, items: this.#typed({}) } : this.#typed({});
      return this.#described({ ...shape, ...description(beside) }, [`the same structure${isAgain ? " again" : ""}: ${name}`]);
    }
    return this.#schema({ ...target, ...beside }, depth, [...within, reference]);
  }

  /** Returns the type of a schema that is too deep, with the schema in its description. */
  #anything(schema: JsonObject): JsonObject {
    const { type } = schema;
    const shape: JsonObject =
      typeof type === "string" && type !== "array" ? { type } : type === "array" ? { type, items: this.#typed({}) } : this.#typed({});
    const told = Object.keys(schema).some((keyword) => keyword !== "type" && keyword !== "description")
      ? [`its schema: ${words(schema)}`]
      : [];
    return this.#described({ ...shape, ...description(schema) }, this.#bounds.isTerse ? [] : told);
  }

  #described(schema: JsonObject, told: readonly string[]): JsonObject {
    if (told.length === 0) return schema;
    const { description: own } = schema;
    const note = `(${told.join("; ")})`;
    return { ...schema, description: typeof own === "string" && own !== "" ? `${own} ${note}` : note };
  }

  #key(name: string): string {
    const known = this.#keys.get(name);
    if (known !== undefined) return known;
    const { keys } = this.#rules;
    let key = name;
    if (!name.isWellFormed() || (keys !== undefined && !isFitName(name, keys))) {
      const rule = keys ?? COMMON_NAMES;
      key = standInName(name, rule);
      for (let salt = 1; this.#ownKeys.has(key); salt += 1) key = standInName(name, rule, String(salt));
    }
    this.#keys.set(name, key);
    return key;
  }
}

/** The schema with other words for some of the keywords that the vendor does not know. */
function spelledOut(schema: JsonObject, without: readonly string[]): JsonObject {
  let result = schema;
  if (without.includes("const") && result["const"] !== undefined) {
    const { const: value, ...rest } = result;
    result = { ...rest, enum: [value] };
  }
  if (without.includes("oneOf") && result["oneOf"] !== undefined && result["anyOf"] === undefined) {
    const { oneOf, ...rest } = result;
    result = { ...rest, anyOf: oneOf };
  }
  const { allOf } = result;
  if (!without.includes("allOf") || !Array.isArray(allOf)) return result;
  const parts = allOf as readonly JsonObject[];
  const { allOf: _, ...rest } = result;
  // A part that is a reference stays one only if nothing else has its place.
  return Object.assign({}, ...parts, rest) as JsonObject;
}

/** An object without anything at the top that vendors refuse there. */
function isPlainObject(schema: JsonObject): boolean {
  const refused = [
    "$ref",
    "anyOf",
    "oneOf",
    "allOf",
    "not",
    "enum",
    "const",
    "if",
    "then",
    "else",
    "dependentRequired",
    "dependentSchemas",
  ];
  return schema["type"] === "object" && refused.every((keyword) => schema[keyword] === undefined);
}

function typeInAlternatives(schema: JsonObject): JsonObject {
  const keyword = ["anyOf", "oneOf"].find((name) => Array.isArray(schema[name]));
  if (keyword === undefined || schema["type"] === undefined) return schema;
  const { type, ...rest } = schema;
  const alternatives = (schema[keyword] as readonly JsonObject[]).map((each) =>
    ["type", "anyOf", "oneOf", "$ref"].some((name) => each[name] !== undefined) ? each : { type, ...each },
  );
  return { ...rest, [keyword]: alternatives };
}

function withDefinitions(fitted: JsonObject, $defs: JsonObject, original: JsonObject): JsonObject {
  const order = Object.keys(original);
  const all: JsonObject = { ...fitted, $defs };
  const place = (name: string): number => (order.includes(name) ? order.indexOf(name) : order.length);
  return Object.fromEntries(Object.entries(all).toSorted(([left], [right]) => place(left) - place(right)));
}

function referencesIn(value: JsonValue | undefined): string[] {
  if (Array.isArray(value)) return (value as readonly JsonValue[]).flatMap(referencesIn);
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([keyword, inner]) =>
    keyword === "$ref" && typeof inner === "string" && inner.startsWith("#/$defs/")
      ? [inner.slice("#/$defs/".length)]
      : referencesIn(inner),
  );
}

function keysIn(schema: JsonValue | undefined): Set<string> {
  const keys = new Set<string>();
  const visit = (value: JsonValue | undefined): void => {
    if (Array.isArray(value)) for (const each of value as readonly JsonValue[]) visit(each);
    else if (isObject(value))
      for (const [name, inner] of Object.entries(value)) {
        keys.add(name);
        visit(inner);
      }
  };
  visit(schema);
  return keys;
}

function typesOf({ type }: JsonObject): readonly JsonValue[] {
  return Array.isArray(type) ? (type as readonly JsonValue[]) : [type ?? null];
}

function typeOfValue(value: JsonValue): string {
  return value === null ? "null" : Array.isArray(value) ? "array" : typeof value;
}

function isRefusal(schema: JsonObject): boolean {
  return isObject(schema["not"]) && Object.keys(schema["not"]).length === 0;
}

function description(schema: JsonObject): JsonObject {
  return typeof schema["description"] === "string" ? { description: schema["description"] } : {};
}

function words(value: JsonValue): string {
  return cut(JSON.stringify(value), MAX_WORDS);
}

function cut(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length)}…` : text;
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

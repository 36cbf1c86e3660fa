import type { JsonObject, JsonValue } from "@keelson/protocol";
import { cutText, describeFurther, quoteJson } from "./describe-schema.ts";
import { fillType, moveTypeIntoAlternatives } from "./fill-type.ts";
import { FitKeys } from "./fit-keys.ts";
import { objectForm } from "./object-form.ts";
import { isPortablePattern } from "./portable-pattern.ts";
import { respellKeywords } from "./respell-keywords.ts";
import { distinctValues, isObject, isRefusal, objectOf } from "./schema-value.ts";
import { usedDefinitions, withDefinitions } from "./used-definitions.ts";
import type { SchemaRules } from "./wire-rules.ts";

/** The most subschemas of one schema, references followed. */
const MAX_NODES = 4000;
const MAX_QUOTED = 300;
const MAX_TERSE_DESCRIPTION = 200;
const ANNOTATIONS: ReadonlySet<string> = new Set(["examples", "default", "title", "deprecated", "readOnly", "writeOnly"]);

export interface FittedSchema {
  /** The schema for the vendor: it accepts every object that the original accepts. */
  readonly schema: JsonObject;
  /** Conditions of the arguments as a whole that the schema cannot say, in words. */
  readonly notes: readonly string[];
  /** The property keys that were renamed: the original by the key in the vendor's schema. */
  readonly originalKeys: ReadonlyMap<string, string>;
}

export interface SchemaBounds {
  readonly maxDepth: number;
  readonly isTerse: boolean;
}

/** Rewrites one schema in normal form with the keywords that a vendor accepts. */
export class SchemaFitter {
  readonly #root: JsonObject;
  readonly #rules: SchemaRules;
  readonly #bounds: SchemaBounds;
  readonly #keys: FitKeys;
  #nodes = 0;

  constructor(root: JsonObject, rules: SchemaRules, bounds: SchemaBounds) {
    this.#root = root;
    this.#rules = rules;
    this.#bounds = bounds;
    this.#keys = new FitKeys(root, rules.keys);
  }

  /** @returns `undefined` if the schema accepts no object */
  fit(): FittedSchema | undefined {
    const form = objectForm(this.#root, (name) => this.#keys.fit(name));
    if (form === undefined) return undefined;
    const { $defs, ...top } = form.schema;
    const { properties } = top;
    const given: JsonObject = properties === undefined ? { ...top, properties: {} } : top;
    const fitted = this.#schema(given, 0, []);
    const used =
      this.#rules.references === "inline" || !isObject($defs)
        ? {}
        : usedDefinitions($defs, fitted, (definition) => this.#schema(definition, 1, []));
    const schema = Object.keys(used).length === 0 ? fitted : withDefinitions(fitted, used, form.schema);
    return { schema, notes: form.notes, originalKeys: this.#keys.originals };
  }

  #schema(schema: JsonObject, depth: number, within: readonly string[]): JsonObject {
    this.#nodes += 1;
    const reference = schema["$ref"];
    if (typeof reference === "string" && this.#rules.references === "inline") return this.#inlined(schema, reference, depth, within);
    if (depth > this.#bounds.maxDepth || this.#nodes > MAX_NODES) return this.#anything(schema);
    const respelled = this.#rules.without === undefined ? schema : respellKeywords(schema, this.#rules.without);
    // A part of `allOf` may be a reference or have an `allOf` of its own.
    return respelled === schema ? this.#lowered(schema, depth, within) : this.#schema(respelled, depth, within);
  }

  #lowered(schema: JsonObject, depth: number, within: readonly string[]): JsonObject {
    const notes: string[] = [];
    const entries: [string, JsonValue][] = [];
    const child = (value: JsonValue | undefined): JsonObject => this.#schema(objectOf(value), depth + 1, within);
    for (const [keyword, value] of Object.entries(schema)) {
      if (value === undefined || (this.#bounds.isTerse && ANNOTATIONS.has(keyword))) continue;
      if (this.#rules.without?.includes(keyword) === true) {
        if (!ANNOTATIONS.has(keyword)) notes.push(`${keyword}: ${quoteJson(value, MAX_QUOTED)}`);
        continue;
      }
      const fitted = this.#keyword(keyword, value, schema, child, notes);
      if (fitted !== undefined) entries.push([keyword, fitted]);
    }
    const fitted = this.#completed(Object.fromEntries(entries), schema, within);
    return describeFurther(fitted, notes);
  }

  #keyword(
    keyword: string,
    value: JsonValue,
    schema: JsonObject,
    child: (value: JsonValue | undefined) => JsonObject,
    notes: string[],
  ): JsonValue | undefined {
    const isLowered = this.#rules.tuples === "lower" && schema["prefixItems"] !== undefined;
    switch (keyword) {
      case "properties":
        return this.#properties(value as JsonObject, child);
      case "required":
        return (value as readonly JsonValue[]).map((name) => this.#keys.fit(String(name)));
      case "dependentRequired":
        return Object.fromEntries(
          Object.entries(value as JsonObject).map(([name, names]) => [
            this.#keys.fit(name),
            (names as readonly JsonValue[]).map((each) => this.#keys.fit(String(each))),
          ]),
        );
      case "dependentSchemas":
        return Object.fromEntries(Object.entries(value as JsonObject).map(([name, inner]) => [this.#keys.fit(name), child(inner)]));
      case "patternProperties":
        return this.#patternProperties(value as JsonObject, child, notes);
      case "additionalProperties":
        // A closed object would refuse the members whose pattern is only described.
        if (value === false && this.#dropsPatterns(schema)) return undefined;
        return isObject(value) ? child(value) : value;
      case "pattern":
        if (this.#rules.patterns === "keep" || isPortablePattern(String(value))) return value;
        notes.push(`matches the regular expression ${quoteJson(value, MAX_QUOTED)}`);
        return undefined;
      case "prefixItems":
        if (isLowered) {
          notes.push(`the items in their order: ${quoteJson(value, MAX_QUOTED)}`);
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
        return this.#bounds.isTerse ? cutText(String(value), MAX_TERSE_DESCRIPTION) : value;
      default:
        return value;
    }
  }

  #properties(properties: JsonObject, child: (value: JsonValue | undefined) => JsonObject): JsonObject {
    return Object.fromEntries(
      Object.entries(properties).map(([name, schema]) => {
        const key = this.#keys.fit(name);
        const fitted = child(schema);
        return [key, key === name ? fitted : describeFurther(fitted, [`stands for ${JSON.stringify(name.toWellFormed())}`])];
      }),
    );
  }

  #patternProperties(patterns: JsonObject, child: (value: JsonValue | undefined) => JsonObject, notes: string[]): JsonObject | undefined {
    if (this.#rules.patterns === "keep" || Object.keys(patterns).every(isPortablePattern))
      return Object.fromEntries(Object.entries(patterns).map(([pattern, schema]) => [pattern, child(schema)]));
    notes.push(`members by patterns of their names: ${quoteJson(patterns, MAX_QUOTED)}`);
    return undefined;
  }

  #dropsPatterns({ patternProperties }: JsonObject): boolean {
    return this.#rules.patterns !== "keep" && isObject(patternProperties) && !Object.keys(patternProperties).every(isPortablePattern);
  }

  /** Adds the keywords that vendors require: the items of a list, a type. */
  #completed(fitted: JsonObject, schema: JsonObject, within: readonly string[]): JsonObject {
    let result = fitted;
    const tuple = this.#rules.tuples === "lower" ? schema["prefixItems"] : undefined;
    if (Array.isArray(tuple)) {
      const places = [
        ...(tuple as readonly JsonValue[]),
        ...(isObject(schema["items"]) && !isRefusal(schema["items"]) ? [schema["items"]] : []),
      ];
      const distinct = distinctValues(places);
      const items = distinct.length === 1 ? (distinct[0] as JsonObject) : { anyOf: distinct };
      result = { ...result, items: this.#schema(items, this.#bounds.maxDepth, within) };
    } else if (hasType(result, "array") && result["items"] === undefined && result["prefixItems"] === undefined)
      result = { ...result, items: this.#typed({}) };
    if (this.#rules.typeInAlternatives === true) result = moveTypeIntoAlternatives(result);
    return this.#typed(result);
  }

  #typed(schema: JsonObject): JsonObject {
    return this.#rules.typed === true ? fillType(schema) : schema;
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
      return describeFurther({ ...shape, ...description(beside) }, [`the same structure${isAgain ? " again" : ""}: ${name}`]);
    }
    return this.#schema({ ...target, ...beside }, depth, [...within, reference]);
  }

  /** Returns the type of a schema that is too deep, with the schema in its description. */
  #anything(schema: JsonObject): JsonObject {
    const { type } = schema;
    const shape: JsonObject =
      typeof type === "string" && type !== "array" ? { type } : type === "array" ? { type, items: this.#typed({}) } : this.#typed({});
    const notes = Object.keys(schema).some((keyword) => keyword !== "type" && keyword !== "description")
      ? [`its schema: ${quoteJson(schema, MAX_QUOTED)}`]
      : [];
    return describeFurther({ ...shape, ...description(schema) }, this.#bounds.isTerse ? [] : notes);
  }
}

function hasType({ type }: JsonObject, name: string): boolean {
  return Array.isArray(type) ? (type as readonly JsonValue[]).includes(name) : type === name;
}

function description(schema: JsonObject): JsonObject {
  return typeof schema["description"] === "string" ? { description: schema["description"] } : {};
}

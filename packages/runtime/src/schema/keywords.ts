import { resolveLocalReference } from "./local-reference.ts";

/** What the small checker needs to know of a schema before it may check with it. */
export type KeywordReport =
  /** The small checker knows every word. `isSlow`: with some of them a check may take for ever. */
  | { readonly type: "known"; readonly isSlow: boolean }
  /** A word that only the full validator knows. */
  | { readonly type: "unknown"; readonly keyword: string }
  /** No validator could use it. */
  | { readonly type: "invalid"; readonly message: string };

const TYPES: ReadonlySet<unknown> = new Set(["string", "number", "integer", "boolean", "null", "object", "array"]);

const isCount = (value: unknown): boolean => Number.isInteger(value) && (value as number) >= 0;
const isNumber = (value: unknown): boolean => typeof value === "number" && Number.isFinite(value);
const isTypeName = (value: unknown): boolean =>
  TYPES.has(value) || (Array.isArray(value) && value.length > 0 && value.every((name) => TYPES.has(name)));
const isStrings = (value: unknown): boolean => Array.isArray(value) && value.every((name) => typeof name === "string");

/** Words whose value is no schema, with what the value must be. */
const ASSERTIONS: { readonly [keyword: string]: { readonly test: (value: unknown) => boolean; readonly expected: string } } = {
  type: { test: isTypeName, expected: "a JSON type name or a list of them" },
  required: { test: isStrings, expected: "a list of property names" },
  enum: { test: Array.isArray, expected: "a list of values" },
  const: { test: () => true, expected: "a value" },
  minLength: { test: isCount, expected: "a count" },
  maxLength: { test: isCount, expected: "a count" },
  minItems: { test: isCount, expected: "a count" },
  maxItems: { test: isCount, expected: "a count" },
  minProperties: { test: isCount, expected: "a count" },
  maxProperties: { test: isCount, expected: "a count" },
  minimum: { test: isNumber, expected: "a number" },
  maximum: { test: isNumber, expected: "a number" },
  exclusiveMinimum: { test: isNumber, expected: "a number" },
  exclusiveMaximum: { test: isNumber, expected: "a number" },
  multipleOf: { test: (value) => isNumber(value) && (value as number) > 0, expected: "a number over 0" },
  uniqueItems: { test: (value) => typeof value === "boolean", expected: "true or false" },
  pattern: { test: (value) => typeof value === "string" && compilePattern(value) !== undefined, expected: "a regular expression" },
};

/** Words that say something about a value but never make it invalid. `format` is one of them by the 2020-12 default. */
const ANNOTATIONS: ReadonlySet<string> = new Set([
  "$schema",
  "$comment",
  "title",
  "description",
  "default",
  "example",
  "examples",
  "format",
  "deprecated",
  "readOnly",
  "writeOnly",
  "contentEncoding",
  "contentMediaType",
  "contentSchema",
]);

const SCHEMA_VALUED: ReadonlySet<string> = new Set(["additionalProperties", "additionalItems", "propertyNames", "not"]);
const SCHEMA_LISTS: ReadonlySet<string> = new Set(["anyOf", "oneOf", "allOf", "prefixItems"]);
const SCHEMA_MAPS: ReadonlySet<string> = new Set(["properties", "patternProperties", "$defs", "definitions"]);
const SLOW: ReadonlySet<string> = new Set(["pattern", "patternProperties", "uniqueItems"]);
const MAX_DEPTH = 200;

/** Looks through a schema, its subschemas included. An `invalid` place wins over an `unknown` word. */
export function reportKeywords(root: unknown): KeywordReport {
  let unknown: string | undefined;
  let isSlow = false;
  const invalid = visit(root, "", 0);
  if (invalid !== undefined) return { type: "invalid", message: invalid };
  return unknown === undefined ? { type: "known", isSlow } : { type: "unknown", keyword: unknown };

  function visit(schema: unknown, place: string, depth: number): string | undefined {
    if (typeof schema === "boolean") return undefined;
    if (!isRecord(schema)) return `${place || "the schema"} must be a schema: an object, true or false`;
    if (depth > MAX_DEPTH) return `${place} is nested deeper than ${MAX_DEPTH} levels`;
    for (const keyword of Object.keys(schema)) {
      const message = visitKeyword(schema, keyword, `${place}/${keyword}`, depth);
      if (message !== undefined) return message;
    }
    return undefined;
  }

  function visitKeyword(schema: Record<string, unknown>, keyword: string, place: string, depth: number): string | undefined {
    const value = schema[keyword];
    if (SLOW.has(keyword)) isSlow = true;
    if (Object.hasOwn(ASSERTIONS, keyword)) {
      const assertion = ASSERTIONS[keyword];
      return assertion === undefined || assertion.test(value) ? undefined : `${place} must be ${assertion.expected}`;
    }
    if (ANNOTATIONS.has(keyword)) return undefined;
    if (keyword === "$ref") return visitReference(value, place);
    if (keyword === "items" && !Array.isArray(value)) return visit(value, place, depth + 1);
    if (SCHEMA_VALUED.has(keyword)) return visit(value, place, depth + 1);
    if (SCHEMA_LISTS.has(keyword) || keyword === "items") {
      if (!Array.isArray(value)) return `${place} must be a list of schemas`;
      return first(value, (item, index) => visit(item, `${place}/${index}`, depth + 1));
    }
    if (SCHEMA_MAPS.has(keyword)) {
      if (!isRecord(value)) return `${place} must be an object of schemas`;
      return first(Object.keys(value), (name) => {
        if (keyword === "patternProperties" && compilePattern(name) === undefined)
          return `${place} has the key ${JSON.stringify(name)}, which is no regular expression`;
        return visit(value[name], `${place}/${name}`, depth + 1);
      });
    }
    unknown ??= keyword;
    return undefined;
  }

  function visitReference(reference: unknown, place: string): string | undefined {
    if (typeof reference !== "string") return `${place} must be a reference such as "#/$defs/name"`;
    if (!reference.startsWith("#")) {
      // Only a schema with ids of its own can mean itself by this; nothing is ever fetched.
      unknown ??= "$ref to an id";
      return undefined;
    }
    if (reference !== "#" && !reference.startsWith("#/")) {
      unknown ??= "$ref to an anchor";
      return undefined;
    }
    const target = resolveLocalReference(root, reference);
    return isRecord(target) || typeof target === "boolean"
      ? undefined
      : `${place} points at ${JSON.stringify(reference)}, where there is no schema`;
  }
}

function first<T>(items: readonly T[], visit: (item: T, index: number) => string | undefined): string | undefined {
  for (const [index, item] of items.entries()) {
    const message = visit(item, index);
    if (message !== undefined) return message;
  }
  return undefined;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Unicode-aware where possible: schemas in the wild also hold patterns that only the older mode accepts. */
export function compilePattern(pattern: string): RegExp | undefined {
  for (const flags of ["u", ""]) {
    try {
      return new RegExp(pattern, flags);
    } catch {
      // tried in the other mode; `undefined` says that neither takes it
    }
  }
  return undefined;
}

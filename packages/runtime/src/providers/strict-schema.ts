import type { JsonObject, JsonValue } from "@keelson/protocol";

/** Keywords that the strict modes of OpenAI and those who follow it understand. */
const UNDERSTOOD: ReadonlySet<string> = new Set([
  "type",
  "title",
  "description",
  "enum",
  "const",
  "anyOf",
  "$ref",
  "$defs",
  "definitions",
  "properties",
  "required",
  "additionalProperties",
  "items",
  "pattern",
  "format",
  "minLength",
  "maxLength",
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
  "minItems",
  "maxItems",
]);
/** Those that constrain nothing, so that they may be left out. */
const ANNOTATIONS: ReadonlySet<string> = new Set([
  "$schema",
  "$id",
  "$comment",
  "default",
  "examples",
  "deprecated",
  "readOnly",
  "writeOnly",
  "contentEncoding",
  "contentMediaType",
]);
const FORMATS: ReadonlySet<JsonValue | undefined> = new Set([
  "date-time",
  "time",
  "date",
  "duration",
  "email",
  "hostname",
  "ipv4",
  "ipv6",
  "uuid",
]);

/**
 * The schema as a vendor's strict mode takes it: every object closed, every member required, no other keyword than it knows.
 * Whatever fits the result fits `schema`. `undefined` when there is no such schema: optional members, free maps, other keywords.
 */
export function strictSchema(schema: JsonObject): JsonObject | undefined {
  return schema["anyOf"] === undefined && (schema["type"] === "object" || schema["$ref"] !== undefined) ? strictObject(schema) : undefined;
}

function strictValue(value: JsonValue | undefined): JsonObject | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? strictObject(value as JsonObject) : undefined;
}

/** Words beside a reference that restrict nothing: strict modes refuse all words there ("$ref cannot have keywords"). */
const BESIDE_REFERENCE: ReadonlySet<string> = new Set(["$ref", "title", "description", ...ANNOTATIONS]);

function strictObject(schema: JsonObject): JsonObject | undefined {
  if (schema["$ref"] !== undefined && schema["$defs"] === undefined && schema["definitions"] === undefined)
    return Object.keys(schema).every((name) => BESIDE_REFERENCE.has(name)) ? { $ref: schema["$ref"] } : undefined;
  const strict: Record<string, JsonValue> = {};
  for (const [name, value] of Object.entries(schema)) {
    if (value === undefined || ANNOTATIONS.has(name) || (name === "format" && !FORMATS.has(value))) continue;
    if (!UNDERSTOOD.has(name)) return undefined;
    const lowered = strictMember(name, value);
    if (lowered === undefined) return undefined;
    strict[name] = lowered;
  }
  const types = Array.isArray(schema["type"]) ? (schema["type"] as readonly JsonValue[]) : [schema["type"]];
  if (!types.includes("object") && schema["properties"] === undefined) {
    // A value of any type is beyond strict modes, and a choice among constants must tell their type.
    return ["type", "anyOf", "$ref"].some((name) => strict[name] !== undefined) &&
      !(types.includes("array") && strict["items"] === undefined)
      ? strict
      : undefined;
  }
  const { properties, additionalProperties = false, required = [] } = schema;
  if (typeof properties !== "object" || properties === null || additionalProperties !== false || !Array.isArray(required)) return undefined;
  const names = Object.keys(properties);
  if (names.length !== new Set(required).size || !names.every((name) => required.includes(name))) return undefined;
  return { ...strict, required: names, additionalProperties: false };
}

function strictMember(name: string, value: JsonValue): JsonValue | undefined {
  switch (name) {
    case "properties":
    case "$defs":
    case "definitions":
      return strictMap(value);
    case "items":
      return strictValue(value);
    case "anyOf":
      return Array.isArray(value) ? strictList(value) : undefined;
    default:
      return value;
  }
}

function strictMap(value: JsonValue): JsonObject | undefined {
  const lowered: Record<string, JsonValue> = {};
  for (const [name, schema] of Object.entries((value ?? {}) as JsonObject)) {
    const strict = strictValue(schema);
    if (strict === undefined) return undefined;
    lowered[name] = strict;
  }
  return lowered;
}

function strictList(list: readonly JsonValue[]): readonly JsonObject[] | undefined {
  const lowered = list.map(strictValue).filter((schema) => schema !== undefined);
  return lowered.length === list.length ? lowered : undefined;
}

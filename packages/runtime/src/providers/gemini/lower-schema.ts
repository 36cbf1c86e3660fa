import type { JsonObject, JsonValue } from "@keelson/protocol";
import { resolveLocalReference } from "../../schema/local-reference.ts";

/** Keywords that mean the same in Gemini's subset of OpenAPI 3.0 (ai.google.dev, `Schema`). */
const SAME = ["title", "minItems", "maxItems", "minProperties", "maxProperties", "minLength", "maxLength", "minimum", "maximum"] as const;
const FORMATS: { readonly [type: string]: readonly string[] } = {
  STRING: ["date-time", "enum"],
  NUMBER: ["float", "double"],
  INTEGER: ["int32", "int64"],
};
/** What can't be said by keywords is said by words, so that the model knows it all the same. */
const TOLD: { readonly [keyword: string]: (value: JsonValue) => string | undefined } = {
  exclusiveMinimum: (value) => `greater than ${text(value)}`,
  exclusiveMaximum: (value) => `less than ${text(value)}`,
  multipleOf: (value) => `a multiple of ${text(value)}`,
  uniqueItems: (value) => (value === true ? "no item twice" : undefined),
  format: (value) => `format: ${text(value)}`,
  default: (value) => `default: ${text(value)}`,
  propertyNames: (value) => `names: ${text(value)}`,
  not: (value) => `not: ${text(value)}`,
  contentEncoding: (value) => `encoded as ${text(value)}`,
};
/** The API refuses a list whose items have no type, so that a value of any type is a choice. */
const NO_LIST: readonly JsonObject[] = [{ type: "STRING" }, { type: "NUMBER" }, { type: "BOOLEAN" }, { type: "OBJECT" }];
const ANY_LIST: JsonObject = { type: "ARRAY", items: { anyOf: NO_LIST, nullable: true } };
const ANYTHING: JsonObject = { anyOf: [...NO_LIST, ANY_LIST], nullable: true };
const MAX_DEPTH = 24;
/** The most subschemas: choices within choices multiply. */
const MAX_NODES = 4000;

export interface LowerOptions {
  /** Ask for members in the order in which the schema lists them. */
  readonly ordered?: boolean;
}

interface Scope {
  readonly root: JsonObject;
  readonly ordered: boolean;
  /** The references that are being followed. */
  readonly within: readonly string[];
  readonly depth: number;
  readonly nodes: { made: number };
}

/**
 * A JSON Schema in the subset that Gemini takes as `parameters` and `responseSchema`. Whatever fits `schema` fits the result
 * (but lists of lists where it takes anything), which may take more: references are put in their place, `allOf` is joined, `oneOf` is `anyOf`, `null` is `nullable`, free maps
 * are objects, and a structure that contains itself ends in an object that is described by words.
 */
export function lowerGeminiSchema(schema: JsonObject, { ordered = false }: LowerOptions = {}): JsonObject {
  return lower(schema, { root: schema, ordered, within: [], depth: 0, nodes: { made: 0 } });
}

function lower(value: JsonValue | undefined, scope: Scope): JsonObject {
  const given = schemaOf(value);
  scope.nodes.made += 1;
  if (given === undefined || scope.depth > MAX_DEPTH || scope.nodes.made > MAX_NODES) return ANYTHING;
  const reference = given["$ref"];
  if (typeof reference === "string") return lowerReference(given, reference, scope);
  const { schema, parts } = joined(given, scope);
  const inner: Scope = { ...scope, within: [...scope.within, ...parts], depth: scope.depth + 1 };
  const { types, nullable } = typesOf(schema);
  const choices = choicesOf(schema);
  const lowered: Record<string, JsonValue> = {};
  if (choices.length > 0) addChoices(lowered, choices, inner);
  else if (types.length > 1) lowered["anyOf"] = types.map((type) => lower({ ...withoutText(schema), type }, inner));
  if (lowered["anyOf"] === undefined && types.length <= 1) {
    const [type] = types;
    if (type === undefined) {
      if (lowered["type"] === undefined) Object.assign(lowered, nullable ? { type: "STRING" } : ANYTHING);
    } else addTyped(lowered, schema, type.toUpperCase(), inner);
  }
  if (nullable) lowered["nullable"] = true;
  const description = describe(schema, lowered);
  return description === "" ? lowered : { ...lowered, description };
}

function lowerReference(schema: JsonObject, reference: string, scope: Scope): JsonObject {
  const { $ref: _, ...beside } = schema;
  const target = schemaOf(resolveLocalReference(scope.root, reference) as JsonValue | undefined);
  if (target === undefined) return lower(beside, scope);
  if (scope.within.includes(reference)) {
    const again = `the same structure again: ${reference.slice(reference.lastIndexOf("/") + 1)}`;
    const { types, nullable } = typesOf(target);
    const shape =
      types.length !== 1 || nullable ? ANYTHING : types[0] === "object" ? { type: "OBJECT" } : types[0] === "array" ? ANY_LIST : ANYTHING;
    return { ...shape, description: again };
  }
  return lower({ ...target, ...beside }, { ...scope, within: [...scope.within, reference] });
}

/** The schema with the members of its `allOf` in it, and the references that those were. */
function joined(schema: JsonObject, scope: Scope): { schema: JsonObject; parts: readonly string[] } {
  const all = schema["allOf"];
  if (!Array.isArray(all)) return { schema, parts: [] };
  const { allOf: _, ...own } = schema;
  const parts: string[] = [];
  let base: JsonObject = {};
  for (const member of all as readonly JsonValue[]) {
    let part = schemaOf(member);
    const reference = part?.["$ref"];
    if (typeof reference === "string") {
      if (scope.within.includes(reference)) continue;
      parts.push(reference);
      part = schemaOf(resolveLocalReference(scope.root, reference) as JsonValue | undefined);
    }
    if (part === undefined) continue;
    const nested = joined(part, { ...scope, within: [...scope.within, ...parts] });
    parts.push(...nested.parts);
    base = merge(base, nested.schema);
  }
  return { schema: merge(base, own), parts };
}

function merge(a: JsonObject, b: JsonObject): JsonObject {
  const names = (schema: JsonObject): readonly JsonValue[] =>
    Array.isArray(schema["required"]) ? (schema["required"] as JsonValue[]) : [];
  const properties = { ...schemaOf(a["properties"]), ...schemaOf(b["properties"]) };
  const required = [...new Set([...names(a), ...names(b)])];
  return {
    ...a,
    ...b,
    ...(Object.keys(properties).length > 0 && { properties }),
    ...(required.length > 0 && { required }),
  };
}

/** The types that are named, or that other keywords speak of. */
function typesOf(schema: JsonObject): { readonly types: readonly string[]; readonly nullable: boolean } {
  const named = (Array.isArray(schema["type"]) ? (schema["type"] as readonly JsonValue[]) : [schema["type"]]).filter(
    (type) => typeof type === "string",
  );
  const values = constantsOf(schema);
  const nullable = schema["nullable"] === true || named.includes("null") || (values?.includes(null) ?? false);
  if (named.length > 0) return { types: named.filter((type) => type !== "null"), nullable };
  if (values !== undefined) {
    const types = new Set(values.filter((value) => value !== null).map((value) => (Array.isArray(value) ? "array" : typeof value)));
    return { types: [...types], nullable };
  }
  if (schema["properties"] !== undefined || schema["additionalProperties"] !== undefined) return { types: ["object"], nullable };
  if (schema["items"] !== undefined || schema["prefixItems"] !== undefined) return { types: ["array"], nullable };
  if (schema["pattern"] !== undefined || schema["minLength"] !== undefined || schema["maxLength"] !== undefined)
    return { types: ["string"], nullable };
  return { types: [], nullable };
}

function constantsOf(schema: JsonObject): readonly JsonValue[] | undefined {
  if (Array.isArray(schema["enum"])) return schema["enum"] as readonly JsonValue[];
  return schema["const"] === undefined ? undefined : [schema["const"]];
}

/** The choices, each with what is said beside them: a choice can't stand beside other keywords. */
function choicesOf(schema: JsonObject): readonly JsonValue[] {
  const name = ["anyOf", "oneOf"].find((keyword) => Array.isArray(schema[keyword]) && (schema[keyword] as readonly unknown[]).length > 0);
  if (name === undefined) return [];
  const { [name]: choices, nullable: _, ...beside } = withoutText(schema);
  const own = beside["type"] !== undefined || beside["properties"] !== undefined || beside["enum"] !== undefined;
  // Choices among members that must be there are left out: they tell no type.
  if (own && (choices as readonly JsonValue[]).every(tellsNoType)) return [];
  return own ? (choices as readonly JsonValue[]).map((choice) => ({ allOf: [beside, choice] })) : (choices as readonly JsonValue[]);
}

function tellsNoType(choice: JsonValue): boolean {
  return Object.keys(schemaOf(choice) ?? {}).every((name) => name === "required" || name === "not");
}

function addChoices(lowered: Record<string, JsonValue>, choices: readonly JsonValue[], scope: Scope): void {
  const isNull = (choice: JsonValue): boolean => {
    const schema = schemaOf(choice);
    return schema !== undefined && (schema["type"] === "null" || schema["const"] === null);
  };
  const others = choices.filter((choice) => !isNull(choice)).map((choice) => lower(choice, scope));
  if (others.length < choices.length) lowered["nullable"] = true;
  const [only] = others;
  if (others.length === 1 && only !== undefined) Object.assign(lowered, only);
  else if (others.length > 1) lowered["anyOf"] = others;
  else lowered["type"] = "STRING";
}

function addTyped(lowered: Record<string, JsonValue>, schema: JsonObject, type: string, scope: Scope): void {
  // A single choice was lowered before. The type beside it wins a contradiction, because the API refuses keywords of another type.
  if (lowered["type"] !== undefined && lowered["type"] !== type)
    for (const name of Object.keys(lowered)) if (name !== "nullable") delete lowered[name];
  lowered["type"] = type;
  for (const name of SAME) if (schema[name] !== undefined) lowered[name] = schema[name];
  if (type === "STRING") {
    if (typeof schema["pattern"] === "string") lowered["pattern"] = schema["pattern"];
    const strings = constantsOf(schema)?.filter((value) => typeof value === "string" && value !== "");
    // The API refuses an empty string among the values, and values that are no strings.
    if (strings !== undefined && strings.length > 0 && strings.length === constantsOf(schema)?.filter((value) => value !== null).length)
      Object.assign(lowered, { format: "enum", enum: strings });
  }
  if (typeof schema["format"] === "string" && lowered["format"] === undefined && FORMATS[type]?.includes(schema["format"]))
    lowered["format"] = schema["format"];
  if (type === "INTEGER") addWholeBounds(lowered, schema);
  if (type === "ARRAY") lowered["items"] = itemsOf(schema, scope);
  if (type === "OBJECT") addMembers(lowered, schema, scope);
}

function addWholeBounds(lowered: Record<string, JsonValue>, schema: JsonObject): void {
  const above = schema["exclusiveMinimum"];
  const below = schema["exclusiveMaximum"];
  if (typeof above === "number" && !(Number(lowered["minimum"]) > above)) lowered["minimum"] = Math.floor(above) + 1;
  if (typeof below === "number" && !(Number(lowered["maximum"]) < below)) lowered["maximum"] = Math.ceil(below) - 1;
}

/** A tuple is a list of any of its items. */
function itemsOf(schema: JsonObject, scope: Scope): JsonObject {
  const places = [schema["prefixItems"], schema["items"]].find((items) => Array.isArray(items)) as readonly JsonValue[] | undefined;
  if (places === undefined || places.length === 0) return lower(schema["items"], scope);
  const rest = schemaOf(Array.isArray(schema["items"]) ? schema["additionalItems"] : schema["items"]);
  const distinct = new Map([...places, ...(rest === undefined ? [] : [rest])].map((item) => [JSON.stringify(item), item]));
  return lower(distinct.size === 1 ? places[0] : { anyOf: [...distinct.values()] }, scope);
}

function addMembers(lowered: Record<string, JsonValue>, schema: JsonObject, scope: Scope): void {
  const properties = Object.entries(schemaOf(schema["properties"]) ?? {});
  const names = properties.map(([name]) => name);
  if (properties.length > 0 || scope.depth === 1)
    lowered["properties"] = Object.fromEntries(properties.map(([name, member]) => [name, lower(member, scope)]));
  const required = Array.isArray(schema["required"]) ? (schema["required"] as readonly JsonValue[]).map(String) : [];
  // The API refuses names that are no properties.
  const known = required.filter((name) => names.includes(name));
  if (known.length > 0) lowered["required"] = known;
  if (scope.ordered && names.length > 1) lowered["propertyOrdering"] = names;
}

function describe(schema: JsonObject, lowered: JsonObject): string {
  const words: string[] = [];
  const own = schema["description"] ?? lowered["description"];
  if (typeof own === "string" && own !== "") words.push(own);
  const told: string[] = [];
  const constants = constantsOf(schema);
  if (constants !== undefined && lowered["enum"] === undefined) told.push(`one of ${constants.map(text).join(", ")}`);
  for (const [keyword, tell] of Object.entries(TOLD)) {
    const value = schema[keyword];
    if (value === undefined || value === lowered[keyword]) continue;
    if (keyword.startsWith("exclusive") && lowered["type"] === "INTEGER") continue;
    const say = tell(value);
    if (say !== undefined) told.push(say);
  }
  const values = schemaOf(schema["additionalProperties"]);
  if (lowered["type"] === "OBJECT" && values !== undefined && Object.keys(values).length > 0)
    told.push(`each further value: ${text(values)}`);
  if (Array.isArray(schema["prefixItems"])) told.push(`items in this order: ${text(schema["prefixItems"] as JsonValue)}`);
  if (told.length > 0) words.push(`(${told.join("; ")})`);
  return words.join(" ");
}

function withoutText(schema: JsonObject): JsonObject {
  const { description: _, title: __, default: ___, ...rest } = schema;
  return rest;
}

function schemaOf(value: JsonValue | undefined): JsonObject | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;
}

function text(value: JsonValue): string {
  return JSON.stringify(value).slice(0, 500);
}

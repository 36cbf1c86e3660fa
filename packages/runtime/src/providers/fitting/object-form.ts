import type { JsonObject, JsonValue } from "@keelson/protocol";
import { cutText, quoteJson } from "./describe-schema.ts";
import { distinctValues, isObject, isRefusal, listOf, objectOf, typeOfValue } from "./schema-value.ts";

/** Alternatives and conditions, which vendors refuse at the top of a schema. */
const REFUSED_AT_TOP: readonly string[] = [
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
/** Keywords of the top that its object form replaces. */
const REPLACED_AT_TOP: ReadonlySet<string> = new Set([...REFUSED_AT_TOP, "type", "unevaluatedProperties"]);
const MAX_DEPTH = 16;
/** The most subschemas that are read, because references can make a small schema a large one. */
const MAX_STEPS = 500;
const MAX_QUOTED = 600;

export interface ObjectForm {
  /** An object's schema without alternatives and conditions at its top. Accepts every object that the given schema accepts. */
  readonly schema: JsonObject;
  /** The alternatives and conditions in words. */
  readonly notes: readonly string[];
}

interface Scope {
  readonly root: JsonObject;
  readonly notes: string[];
  readonly within: readonly string[];
  readonly steps: { taken: number };
  /** Returns the name of a member in the vendor's schema. */
  readonly memberName: (name: string) => string;
}

/**
 * Rewrites the top of a schema in normal form as one object: alternatives are merged, references followed, conditions described in words.
 * @returns `undefined` if the schema accepts no object
 */
export function objectForm(schema: JsonObject, memberName: (name: string) => string): ObjectForm | undefined {
  if (isObjectForm(schema)) return { schema, notes: [] };
  const notes: string[] = [];
  const form = formOf(schema, { root: schema, notes, within: [], steps: { taken: 0 }, memberName });
  if (form === undefined) return undefined;
  const { $defs, ...rest } = form;
  const definitions = schema["$defs"] ?? $defs;
  return { schema: definitions === undefined ? rest : { ...rest, $defs: definitions }, notes: [...new Set(notes)] };
}

function isObjectForm(schema: JsonObject): boolean {
  return schema["type"] === "object" && REFUSED_AT_TOP.every((keyword) => schema[keyword] === undefined);
}

function formOf(schema: JsonObject, scope: Scope): JsonObject | undefined {
  const { type } = schema;
  if (type !== undefined && type !== "object" && !(Array.isArray(type) && (type as readonly JsonValue[]).includes("object")))
    return undefined;
  if (isRefusal(schema)) return undefined;
  let form: JsonObject = { type: "object", ...withoutTop(schema) };
  if (schema["unevaluatedProperties"] === false && form["additionalProperties"] === undefined)
    form = { ...form, additionalProperties: false };
  const parts = [...(schema["$ref"] === undefined ? [] : [{ $ref: schema["$ref"] }]), ...listOf(schema["allOf"])];
  for (const part of parts) {
    const inner = formOfPart(part, scope);
    if (inner === undefined) return undefined;
    form = mergeAll(form, inner);
  }
  for (const keyword of ["anyOf", "oneOf"]) {
    const choices = listOf(schema[keyword]);
    if (choices.length === 0) continue;
    const forms = choices.map((choice) => formOfPart(choice, scope)).filter((choice) => choice !== undefined);
    if (forms.length === 0) return undefined;
    if (forms.length > 1) scope.notes.push(describeChoices(forms, scope, keyword === "oneOf" ? "exactly one" : "one"));
    form = mergeAll(form, mergeAlternatives(forms));
  }
  for (const keyword of ["const", "enum"]) {
    const values = keyword === "const" ? [schema["const"]] : listOf(schema["enum"]);
    if (schema[keyword] === undefined) continue;
    const objects = (values as readonly JsonValue[]).filter(isObject);
    if (objects.length === 0) return undefined;
    scope.notes.push(`The arguments as a whole are one of ${quoteJson(objects, MAX_QUOTED)}.`);
  }
  for (const keyword of ["then", "else"]) {
    const inner = isObject(schema[keyword]) ? formOfPart(schema[keyword], scope) : undefined;
    // A member that only a condition names is a member too.
    if (inner !== undefined) form = mergeAll(form, { properties: objectOf(inner["properties"]) });
  }
  for (const [name, inner] of Object.entries(objectOf(schema["dependentSchemas"]))) {
    const dependent = isObject(inner) ? formOfPart(inner, scope) : undefined;
    if (dependent === undefined) continue;
    form = mergeAll(form, { properties: objectOf(dependent["properties"]) });
    scope.notes.push(`If ${scope.memberName(name)} is given: ${describeForm(dependent, scope)}.`);
  }
  for (const [name, required] of Object.entries(objectOf(schema["dependentRequired"])))
    scope.notes.push(
      `If ${scope.memberName(name)} is given, so must be ${listOf(required)
        .map((each) => scope.memberName(String(each)))
        .join(", ")}.`,
    );
  if (schema["not"] !== undefined) scope.notes.push(`The arguments must not match ${quoteJson(schema["not"], MAX_QUOTED)}.`);
  if (schema["if"] !== undefined) {
    const { if: condition, then, else: otherwise } = schema;
    scope.notes.push(
      `If the arguments match ${quoteJson(condition, MAX_QUOTED)}${then === undefined ? "" : `, they must match ${quoteJson(then, MAX_QUOTED)}`}${otherwise === undefined ? "" : `; otherwise ${quoteJson(otherwise, MAX_QUOTED)}`}.`,
    );
  }
  return form;
}

function formOfPart(schema: JsonValue | undefined, scope: Scope): JsonObject | undefined {
  if (!isObject(schema)) return undefined;
  scope.steps.taken += 1;
  if (scope.within.length > MAX_DEPTH || scope.steps.taken > MAX_STEPS) return { type: "object" };
  const reference = schema["$ref"];
  if (typeof reference !== "string") return formOf(schema, { ...scope, within: [...scope.within, ""] });
  const { $ref: _, ...beside } = schema;
  if (scope.within.includes(reference)) return formOf(beside, { ...scope, within: [...scope.within, ""] });
  const inside = { ...scope, within: [...scope.within, reference] };
  const target = objectOf(scope.root["$defs"])[reference.slice("#/$defs/".length)];
  const form = isObject(target) ? formOf(target, inside) : { type: "object" };
  const own = formOf(beside, inside);
  return form === undefined || own === undefined ? undefined : mergeAll(form, own);
}

function withoutTop(schema: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(schema).filter(([keyword]) => !REPLACED_AT_TOP.has(keyword)));
}

/** Merges two objects that both apply. */
function mergeAll(left: JsonObject, right: JsonObject): JsonObject {
  const properties = new Map(Object.entries(objectOf(left["properties"])));
  for (const [name, schema] of Object.entries(objectOf(right["properties"]))) {
    const before = properties.get(name);
    if (before === undefined || isEmpty(before)) properties.set(name, schema);
    else if (!isEmpty(schema) && !isSame(before, schema)) properties.set(name, mergeMember(before, schema));
  }
  const required = [...new Set([...listOf(left["required"]), ...listOf(right["required"])])];
  const isClosed = left["additionalProperties"] === false || right["additionalProperties"] === false;
  const patterns = { ...objectOf(left["patternProperties"]), ...objectOf(right["patternProperties"]) };
  return {
    ...left,
    ...Object.fromEntries(Object.entries(right).filter(([keyword]) => left[keyword] === undefined)),
    ...((left["properties"] ?? right["properties"]) !== undefined && { properties: Object.fromEntries(properties) }),
    ...(required.length > 0 && { required }),
    ...(Object.keys(patterns).length > 0 && { patternProperties: patterns }),
    ...(isClosed && { additionalProperties: false }),
  };
}

function mergeMember(left: JsonValue, right: JsonValue | undefined): JsonObject {
  const values = [left, right].flatMap((schema): readonly JsonValue[] => {
    const all = isObject(schema) && Object.keys(schema).length === 1 ? schema["allOf"] : undefined;
    return Array.isArray(all) ? (all as readonly JsonValue[]) : [schema as JsonValue];
  });
  const [first, second] = values;
  // The most frequent case by far: a type at the top and a constant in an alternative.
  if (
    values.length === 2 &&
    isObject(first) &&
    isObject(second) &&
    Object.keys(second).every((name) => first[name] === undefined || isSame(first[name], second[name]))
  )
    return { ...first, ...second };
  return { allOf: values };
}

/** Merges objects of which one applies. */
function mergeAlternatives(forms: readonly JsonObject[]): JsonObject {
  const variants = new Map<string, JsonValue[]>();
  for (const form of forms)
    for (const [name, schema] of Object.entries(objectOf(form["properties"]))) {
      const known = variants.get(name) ?? [];
      if (!known.some((each) => isSame(each, schema))) known.push(schema as JsonValue);
      variants.set(name, known);
    }
  const properties = Object.fromEntries([...variants].map(([name, schemas]) => [name, alternativesOf(schemas)]));
  const [first, ...others] = forms.map((form) => listOf(form["required"]));
  const required = (first ?? []).filter((name) => others.every((list) => list.includes(name)));
  const isClosed = forms.every((form) => form["additionalProperties"] === false);
  const patterns = Object.assign({}, ...forms.map((form) => objectOf(form["patternProperties"]))) as JsonObject;
  return {
    ...(variants.size > 0 && { properties }),
    ...(required.length > 0 && { required }),
    ...(Object.keys(patterns).length > 0 && { patternProperties: patterns }),
    ...(isClosed && { additionalProperties: false }),
  };
}

/** Constants become one list of values, so that a member that distinguishes forms stays readable. */
function alternativesOf(schemas: readonly JsonValue[]): JsonValue {
  if (schemas.length === 1) return schemas[0] as JsonValue;
  const values = schemas.flatMap((schema) => {
    if (!isObject(schema)) return [];
    return schema["const"] === undefined ? listOf(schema["enum"]) : [schema["const"]];
  });
  const isConstant = (schema: JsonValue): boolean => isObject(schema) && (schema["const"] !== undefined || schema["enum"] !== undefined);
  if (!schemas.every(isConstant)) return { anyOf: schemas };
  const types = new Set(values.map(typeOfValue));
  const [type] = types;
  return { ...(types.size === 1 && type !== undefined && { type }), enum: distinctValues(values) };
}

function describeChoices(forms: readonly JsonObject[], scope: Scope, how: string): string {
  const choices = [...new Set(forms.map((form) => describeForm(form, scope)))].join(" | ");
  return `Give the arguments in ${how} of these forms: ${cutText(choices, MAX_QUOTED)}`;
}

/** Lists the members of an object; a question mark follows optional ones. */
function describeForm(form: JsonObject, { memberName }: Scope): string {
  const required = listOf(form["required"]).map(String);
  const properties = objectOf(form["properties"]);
  const members = [...new Set([...required, ...Object.keys(properties)])].map((name) => {
    const schema = Object.hasOwn(properties, name) ? properties[name] : undefined;
    const value = isObject(schema) ? schema["const"] : undefined;
    return `${memberName(name)}${required.includes(name) ? "" : "?"}${value === undefined ? "" : `: ${JSON.stringify(value)}`}`;
  });
  return `{${members.join(", ")}}`;
}

function isEmpty(schema: JsonValue | undefined): boolean {
  return isObject(schema) && Object.keys(schema).length === 0;
}

function isSame(left: JsonValue | undefined, right: JsonValue | undefined): boolean {
  return JSON.stringify(left) === JSON.stringify(right);
}

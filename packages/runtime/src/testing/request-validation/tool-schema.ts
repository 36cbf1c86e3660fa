import { resolveLocalReference } from "../../schema/local-reference.ts";
import type { Fields, RequestCheck } from "./request-check.ts";

/** The conditions under which an API accepts the schema of a tool's arguments, from its errors. */
export interface SchemaConditions {
  /** Keywords that are refused at the top. */
  readonly notAtTop: readonly string[];
  /** The members of an object: Anthropic's `Property keys should match pattern`. */
  readonly keys?: RegExp;
  /** OpenAI: `array schema missing items`, `object schema missing properties`. */
  readonly completeTypes?: true;
  /** OpenAI: `regex lookaround is not supported`. */
  readonly noLookaround?: true;
  /** Ollama reads schemas into structures: no boolean schemas, tuples or references reach the model. */
  readonly structured?: true;
}

const TYPES = new Set<unknown>(["string", "number", "integer", "boolean", "null", "object", "array"]);
const isText = (value: unknown): boolean => typeof value === "string";
const isNumber = (value: unknown): boolean => typeof value === "number" && Number.isFinite(value);
const isCount = (value: unknown): boolean => Number.isInteger(value) && (value as number) >= 0;
const isFlag = (value: unknown): boolean => typeof value === "boolean";
const isTexts = (value: unknown): boolean =>
  Array.isArray(value) && value.every((each) => typeof each === "string") && new Set(value).size === value.length;

/** The values that draft 2020-12 allows: "JSON schema is invalid. It must match JSON Schema draft 2020-12". */
const VALUES: { readonly [keyword: string]: (value: unknown) => boolean } = {
  type: (value) => TYPES.has(value) || (Array.isArray(value) && value.length > 0 && value.every((type) => TYPES.has(type))),
  title: isText,
  description: isText,
  format: isText,
  $ref: isText,
  required: isTexts,
  enum: (value) => Array.isArray(value) && value.length > 0,
  minLength: isCount,
  maxLength: isCount,
  minItems: isCount,
  maxItems: isCount,
  minProperties: isCount,
  maxProperties: isCount,
  minimum: isNumber,
  maximum: isNumber,
  exclusiveMinimum: isNumber,
  exclusiveMaximum: isNumber,
  multipleOf: (value) => isNumber(value) && (value as number) > 0,
  uniqueItems: isFlag,
  pattern: (value) => typeof value === "string" && isPattern(value),
  nullable: isFlag,
};
const ONE = ["items", "additionalProperties", "not", "contains", "propertyNames", "if", "then", "else", "unevaluatedProperties"];
const LISTS = ["anyOf", "oneOf", "allOf", "prefixItems"];
const MAPS = ["properties", "patternProperties", "dependentSchemas", "$defs", "definitions"];
const MAX_DEPTH = 200;

/** Notes what the API would refuse in the schema of a tool. */
export function checkToolSchema(check: RequestCheck, value: unknown, path: string, conditions: SchemaConditions): void {
  const root = check.object(value, path);
  if (root === undefined) return;
  if (root["type"] !== "object") check.fail(`${path}.type`, `must be object, not ${JSON.stringify(root["type"])}`);
  for (const keyword of conditions.notAtTop) if (root[keyword] !== undefined) check.fail(`${path}.${keyword}`, "may not stand at the top");
  if (conditions.completeTypes === true && root["properties"] === undefined) check.fail(path, "object schema missing properties");
  visit(root, path, 0);

  function visit(schema: unknown, place: string, depth: number): void {
    if (typeof schema === "boolean") {
      if (conditions.structured === true) check.fail(place, "must be an object");
      return;
    }
    const fields = check.object(schema, place);
    if (fields === undefined) return;
    if (depth > MAX_DEPTH) return void check.fail(place, "is nested too deep");
    for (const [keyword, member] of Object.entries(fields)) {
      const isAllowed = Object.hasOwn(VALUES, keyword) ? VALUES[keyword] : undefined;
      if (isAllowed !== undefined && !isAllowed(member))
        check.fail(`${place}.${keyword}`, `may not be ${JSON.stringify(member)?.slice(0, 60)}`);
      if (ONE.includes(keyword)) visitOne(keyword, member, place, depth);
      else if (LISTS.includes(keyword)) visitList(member, `${place}.${keyword}`, depth);
      else if (MAPS.includes(keyword)) visitMap(keyword, member, `${place}.${keyword}`, depth);
    }
    visitRules(fields, place);
  }

  function visitOne(keyword: string, member: unknown, place: string, depth: number): void {
    if (typeof member === "boolean" && keyword !== "items") return;
    visit(member, `${place}.${keyword}`, depth + 1);
  }

  function visitList(member: unknown, place: string, depth: number): void {
    for (const [at, each] of (check.list(member, place) ?? []).entries()) visit(each, `${place}[${at}]`, depth + 1);
  }

  function visitMap(keyword: string, member: unknown, place: string, depth: number): void {
    const keys = keyword === "properties" ? conditions.keys : undefined;
    for (const [name, each] of Object.entries(check.object(member, place) ?? {})) {
      if (keys !== undefined && !keys.test(name)) check.fail(`${place}.${name}`, `property keys should match ${keys.source}`);
      visit(each, `${place}.${name}`, depth + 1);
    }
  }

  function visitRules(schema: Fields, place: string): void {
    const { type, pattern, $ref: reference } = schema;
    const isList = type === "array" || (Array.isArray(type) && type.includes("array"));
    if (conditions.completeTypes === true && isList && schema["items"] === undefined) check.fail(place, "array schema missing items");
    if (conditions.noLookaround === true && typeof pattern === "string" && /\(\?(?:[=!]|<[=!])/.test(pattern))
      check.fail(`${place}.pattern`, "regex lookaround is not supported");
    if (typeof reference !== "string") return;
    if (conditions.structured === true) check.fail(`${place}.$ref`, "references are not followed");
    else if (resolveLocalReference(root, reference) === undefined) check.fail(`${place}.$ref`, `${reference} points at nothing`);
  }
}

function isPattern(pattern: string): boolean {
  try {
    return new RegExp(pattern, "u") instanceof RegExp;
  } catch {
    try {
      return new RegExp(pattern) instanceof RegExp;
    } catch {
      return false;
    }
  }
}

import { equalJson } from "./equal-json.ts";
import { compilePattern } from "./keywords.ts";
import { resolveLocalReference } from "./local-reference.ts";
import { describeValue, listKeys, type SchemaIssue } from "./schema-issue.ts";
import { withinTime } from "./within-time.ts";

type Keywords = { readonly [keyword: string]: unknown };
type Numbers = { readonly [keyword: string]: number | undefined };

/** More would not help whoever has to send a better value. */
const MAX_ISSUES = 20;
/** Definitions that refer to each other several times double the work at each level: a schema from outside could take for ever. */
const MAX_STEPS = 1_000_000;

/** The references that led to a place without going deeper into the value. */
interface References {
  readonly reference: string;
  readonly outer: References | undefined;
}

const patterns = new Map<string, RegExp>();
const MAX_PATTERNS = 1_000;

/**
 * Checks a JSON value against a schema all of whose words {@link reportKeywords} found known. The empty list means valid.
 * Formats are annotations. Object keys that are inherited do not count.
 * @param isSlow as `reportKeywords` found it
 */
export function checkJson(root: unknown, value: unknown, isSlow: boolean): readonly SchemaIssue[] {
  return (isSlow ? withinTime(() => checkBySteps(root, value)) : checkBySteps(root, value)) ?? TOOK_TOO_LONG;
}

export const TOOK_TOO_LONG: readonly SchemaIssue[] = [
  { path: [], message: "could not be checked: its schema takes too long for this value" },
];

function checkBySteps(root: unknown, value: unknown): readonly SchemaIssue[] {
  const issues: SchemaIssue[] = [];
  let steps = 0;
  check(root, value, [], issues, undefined);
  return steps <= MAX_STEPS ? issues : TOOK_TOO_LONG;

  function check(
    schema: unknown,
    value: unknown,
    path: readonly (string | number)[],
    into: SchemaIssue[],
    references: References | undefined,
  ): void {
    if (schema === true || into.length >= MAX_ISSUES || ++steps > MAX_STEPS) return;
    if (schema === false) {
      into.push({ path, message: "is not allowed here" });
      return;
    }
    const keywords = schema as Keywords;
    const reference = keywords["$ref"] as string | undefined;
    if (reference !== undefined) {
      if (isActive(reference, references))
        into.push({ path, message: `the schema's reference ${JSON.stringify(reference)} leads to itself` });
      else check(resolveLocalReference(root, reference), value, path, into, { reference, outer: references });
    }
    if (!checkType(keywords, value, path, into)) return;
    steps += lengthOf(keywords["enum"]) + lengthOf(keywords["required"]);
    checkAllowedValues(keywords, value, path, into);
    checkCombinations(keywords, value, path, into, references);
    if (typeof value === "string") checkString(keywords, value, path, into);
    else if (typeof value === "number") checkNumber(keywords as Numbers, value, path, into);
    else if (Array.isArray(value)) checkArray(keywords, value, path, into);
    else if (typeof value === "object" && value !== null) checkObject(keywords, value as Keywords, path, into);
  }

  function checkCombinations(
    schema: Keywords,
    value: unknown,
    path: readonly (string | number)[],
    into: SchemaIssue[],
    references: References | undefined,
  ): void {
    for (const branch of (schema["allOf"] as readonly unknown[] | undefined) ?? []) check(branch, value, path, into, references);
    const anyOf = schema["anyOf"] as readonly unknown[] | undefined;
    if (anyOf !== undefined) {
      const failed = attempts(anyOf, value, path, references);
      if (failed.length === anyOf.length) into.push(...closest(failed, path));
    }
    const oneOf = schema["oneOf"] as readonly unknown[] | undefined;
    if (oneOf !== undefined) {
      const failed = attempts(oneOf, value, path, references);
      const matching = oneOf.length - failed.length;
      if (matching === 0) into.push(...closest(failed, path));
      else if (matching > 1) into.push({ path, message: `matches ${matching} of the ${oneOf.length} forms, but must match exactly one` });
    }
    if (schema["not"] !== undefined && attempts([schema["not"]], value, path, references).length === 0)
      into.push({ path, message: `must not be ${describeValue(value)}` });
  }

  /** The issues of each branch that does not match. */
  function attempts(
    branches: readonly unknown[],
    value: unknown,
    path: readonly (string | number)[],
    references: References | undefined,
  ): (readonly SchemaIssue[])[] {
    const failed: SchemaIssue[][] = [];
    for (const branch of branches) {
      const found: SchemaIssue[] = [];
      check(branch, value, path, found, references);
      if (found.length > 0) failed.push(found);
    }
    return failed;
  }

  function checkArray(schema: Keywords, value: readonly unknown[], path: readonly (string | number)[], into: SchemaIssue[]): void {
    const { minItems, maxItems } = schema as Numbers;
    if (minItems !== undefined && value.length < minItems)
      into.push({ path, message: `needs at least ${minItems} items, has ${value.length}` });
    if (maxItems !== undefined && value.length > maxItems)
      into.push({ path, message: `takes at most ${maxItems} items, has ${value.length}` });
    if (schema["uniqueItems"] === true) checkUnique(value, path, into);
    // Draft 7 wrote a tuple as a list in `items`, and the rest in `additionalItems`.
    const tuple = Array.isArray(schema["items"]);
    const prefix = ((tuple ? schema["items"] : schema["prefixItems"]) as readonly unknown[] | undefined) ?? [];
    const rest = tuple ? schema["additionalItems"] : schema["items"];
    for (const [index, item] of value.entries()) {
      if (into.length >= MAX_ISSUES) return;
      if (index < prefix.length) check(prefix[index], item, [...path, index], into, undefined);
      else if (rest !== undefined) check(rest, item, [...path, index], into, undefined);
    }
  }

  function checkObject(schema: Keywords, value: Keywords, path: readonly (string | number)[], into: SchemaIssue[]): void {
    const keys = Object.keys(value);
    const properties = (schema["properties"] as Keywords | undefined) ?? {};
    const { minProperties, maxProperties } = schema as Numbers;
    if (minProperties !== undefined && keys.length < minProperties)
      into.push({ path, message: `needs at least ${minProperties} properties, has ${keys.length}` });
    if (maxProperties !== undefined && keys.length > maxProperties)
      into.push({ path, message: `takes at most ${maxProperties} properties, has ${keys.length}` });
    for (const name of (schema["required"] as readonly string[] | undefined) ?? []) {
      if (Object.hasOwn(value, name)) continue;
      into.push({ path: [...path, name], message: missingProperty(Object.hasOwn(properties, name) ? properties[name] : undefined, keys) });
    }
    const patternProperties = Object.entries((schema["patternProperties"] as Keywords | undefined) ?? {});
    for (const key of keys) {
      if (into.length >= MAX_ISSUES) return;
      const place = [...path, key];
      let known = false;
      if (schema["propertyNames"] !== undefined) check(schema["propertyNames"], key, place, into, undefined);
      if (Object.hasOwn(properties, key)) {
        known = true;
        check(properties[key], value[key], place, into, undefined);
      }
      for (const [pattern, subschema] of patternProperties) {
        if (!patternOf(pattern).test(key)) continue;
        known = true;
        check(subschema, value[key], place, into, undefined);
      }
      const rest = schema["additionalProperties"];
      if (known || rest === undefined) continue;
      if (rest === false) into.push({ path: place, message: unknownProperty(Object.keys(properties)) });
      else check(rest, value[key], place, into, undefined);
    }
  }
}

function lengthOf(list: unknown): number {
  return (list as readonly unknown[] | undefined)?.length ?? 0;
}

function isActive(reference: string, references: References | undefined): boolean {
  for (let at = references; at !== undefined; at = at.outer) if (at.reference === reference) return true;
  return false;
}

/** @returns whether the other words of the schema are worth a look */
function checkType(schema: Keywords, value: unknown, path: readonly (string | number)[], into: SchemaIssue[]): boolean {
  const type = schema["type"] as string | readonly string[] | undefined;
  if (type === undefined) return true;
  const types = typeof type === "string" ? [type] : type;
  for (const name of types) if (hasType(value, name)) return true;
  into.push({ path, message: `expected ${describeTypes(types)}, got ${describeValue(value)}` });
  return false;
}

function hasType(value: unknown, type: string): boolean {
  switch (type) {
    case "null":
      return value === null;
    case "array":
      return Array.isArray(value);
    case "object":
      return typeof value === "object" && value !== null && !Array.isArray(value);
    case "integer":
      return Number.isInteger(value);
    case "number":
      return Number.isFinite(value);
    default:
      return typeof value === type;
  }
}

function checkAllowedValues(schema: Keywords, value: unknown, path: readonly (string | number)[], into: SchemaIssue[]): void {
  const allowed = schema["enum"] as readonly unknown[] | undefined;
  if (allowed !== undefined && !allowed.some((option) => equalJson(option, value))) {
    const options = allowed
      .slice(0, 20)
      .map((option) => JSON.stringify(option))
      .join(", ");
    into.push({ path, message: `expected one of ${options}${allowed.length > 20 ? ", …" : ""}, got ${describeValue(value)}` });
  }
  if (Object.hasOwn(schema, "const") && !equalJson(schema["const"], value))
    into.push({ path, message: `expected ${JSON.stringify(schema["const"])}, got ${describeValue(value)}` });
}

function checkString(schema: Keywords, value: string, path: readonly (string | number)[], into: SchemaIssue[]): void {
  const { minLength, maxLength } = schema as Numbers;
  if (minLength !== undefined || maxLength !== undefined) {
    const length = countCharacters(value);
    if (minLength !== undefined && length < minLength)
      into.push({ path, message: `needs at least ${minLength} characters, has ${length}` });
    if (maxLength !== undefined && length > maxLength) into.push({ path, message: `takes at most ${maxLength} characters, has ${length}` });
  }
  const pattern = schema["pattern"] as string | undefined;
  if (pattern !== undefined && !patternOf(pattern).test(value))
    into.push({ path, message: `must match the pattern ${pattern}, got ${describeValue(value)}` });
}

/** JSON Schema counts code points, not UTF-16 units. */
function countCharacters(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

function checkNumber(
  { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf }: Numbers,
  value: number,
  path: readonly (string | number)[],
  into: SchemaIssue[],
): void {
  if (minimum !== undefined && value < minimum) into.push({ path, message: `must be at least ${minimum}, got ${value}` });
  if (maximum !== undefined && value > maximum) into.push({ path, message: `must be at most ${maximum}, got ${value}` });
  if (exclusiveMinimum !== undefined && value <= exclusiveMinimum)
    into.push({ path, message: `must be over ${exclusiveMinimum}, got ${value}` });
  if (exclusiveMaximum !== undefined && value >= exclusiveMaximum)
    into.push({ path, message: `must be under ${exclusiveMaximum}, got ${value}` });
  if (multipleOf !== undefined && !Number.isInteger(value / multipleOf))
    into.push({ path, message: `must be a multiple of ${multipleOf}, got ${value}` });
}

function checkUnique(value: readonly unknown[], path: readonly (string | number)[], into: SchemaIssue[]): void {
  for (let index = 1; index < value.length; index++) {
    const twin = value.findIndex((item, earlier) => earlier < index && equalJson(item, value[index]));
    if (twin === -1) continue;
    into.push({ path, message: `must not hold a value twice: items ${twin} and ${index} are equal` });
    return;
  }
}

/** Of several forms that all failed, shows the one that the value was probably meant to have. */
function closest(failed: readonly (readonly SchemaIssue[])[], path: readonly (string | number)[]): readonly SchemaIssue[] {
  if (failed.length === 0) return [{ path, message: "is not allowed here" }];
  const inside = failed.filter((issues) => issues.every((issue) => issue.path.length > path.length));
  const best = inside.toSorted((left, right) => left.length - right.length)[0];
  if (best !== undefined && inside.filter((issues) => issues.length === best.length).length === 1) return best;
  const messages = [...new Set(failed.map((issues) => issues[0]?.message ?? ""))];
  return [
    {
      path,
      message:
        messages.length === 1 ? (messages[0] ?? "") : `matches none of the ${failed.length} forms: ${messages.slice(0, 5).join("; or ")}`,
    },
  ];
}

export function missingProperty(schema: unknown, provided: readonly string[]): string {
  const type = typeof schema === "object" && schema !== null ? (schema as Keywords)["type"] : undefined;
  const expected = typeof type === "string" ? ` (${describeTypes([type])})` : "";
  return `is required${expected} but missing; provided: ${listKeys(provided)}`;
}

export function unknownProperty(known: readonly string[]): string {
  return `is not a known property; there are: ${listKeys(known)}`;
}

function describeTypes(types: readonly string[]): string {
  return types.map((type) => (type === "null" ? type : `${/^[aeiou]/.test(type) ? "an" : "a"} ${type}`)).join(" or ");
}

function patternOf(source: string): RegExp {
  let pattern = patterns.get(source);
  if (pattern === undefined) {
    pattern = compilePattern(source) ?? /(?!)/;
    if (patterns.size >= MAX_PATTERNS) patterns.clear();
    patterns.set(source, pattern);
  }
  return pattern;
}

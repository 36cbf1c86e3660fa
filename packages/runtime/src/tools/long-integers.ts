import type { JsonObject, JsonValue, ValidationResult } from "@keelson/protocol";
import { arrivedIntegers, isInexactInteger } from "../json/index.ts";

type Issue = NonNullable<ValidationResult<unknown>["issues"]>[number];
type Path = NonNullable<Issue["path"]>;

/** The issues of arguments, with what a model has to know of integers that came as text since no double keeps their digits. */
export function explainIntegers(input: JsonObject, issues: readonly Issue[]): readonly Issue[] {
  const explained = issues.map((issue): Issue => {
    const digits = valueAt(input, issue.path ?? []);
    return typeof digits === "string" && isInexactInteger(digits) ? { ...issue, message: adviceOn(digits) } : issue;
  });
  // Alternatives of objects report the object.
  const within = arrivedIntegers(input).filter(
    ({ path }) => issues.some((issue) => leadsTo(issue.path ?? [], path)) && !issues.some((issue) => isSame(issue.path ?? [], path)),
  );
  return [...explained, ...within.map(({ path, digits }) => ({ path, message: adviceOn(digits) }))];
}

function adviceOn(digits: string): string {
  return `${digits} has more digits than a number keeps, so it was not passed on. Send it as text, "${digits}", if text is taken here; otherwise the tool cannot take it`;
}

function leadsTo(path: Path, to: Path): boolean {
  return path.length < to.length && isSame(path, to.slice(0, path.length));
}

function isSame(path: Path, other: Path): boolean {
  return path.length === other.length && path.every((step, depth) => String(step) === String(other[depth]));
}

function valueAt(input: JsonValue, path: Path): unknown {
  let at: unknown = input;
  for (const step of path) {
    const name = String(step);
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, name)) return undefined;
    at = (at as { readonly [name: string]: unknown })[name];
  }
  return at;
}

/**
 * Says which integer a schema rounded, if it did: `z.coerce.number()` makes a number of the text of an integer, with other digits.
 * @param value what the schema made of `input`
 */
export function roundedInteger(input: unknown, value: unknown): string | undefined {
  const numerals = new Set<string>();
  visit(input, (leaf) => {
    if (typeof leaf === "string" && isNumeral(leaf)) numerals.add(leaf);
    return false;
  });
  const integers = [...numerals].filter(isInexactInteger);
  if (integers.length === 0) return undefined;
  const byDouble = new Map(integers.map((digits) => [Number(digits), digits]));
  let found: string | undefined;
  visit(value, (leaf) => {
    const digits = byDouble.get(doubleOf(leaf) ?? Number.NaN);
    if (digits === undefined || integers.some((one) => says(leaf, one)) || (typeof leaf === "string" && numerals.has(leaf))) return false;
    found = `The schema of the tool makes ${String(leaf)} of ${digits}, which has more digits than a number keeps. Only a tool that takes such integers as text can be called with it`;
    return true;
  });
  return found;
}

function isNumeral(text: string): boolean {
  return /^-?\d[\d.eE+-]*$/.test(text);
}

function doubleOf(leaf: unknown): number | undefined {
  if (typeof leaf === "number") return leaf;
  if (typeof leaf === "bigint") return Number(leaf);
  return typeof leaf === "string" && isNumeral(leaf) ? Number(leaf) : undefined;
}

/** True if a value is the integer itself. */
function says(leaf: unknown, digits: string): boolean {
  return typeof leaf === "bigint" ? /^-?\d+$/.test(digits) && leaf === BigInt(digits) : leaf === digits;
}

/** Visits the values within a value, until `stops` is true. */
function visit(value: unknown, stops: (leaf: unknown) => boolean, seen: Set<object> = new Set()): boolean {
  if (typeof value !== "object" || value === null) return stops(value);
  if (seen.has(value)) return false;
  seen.add(value);
  const members: Iterable<unknown> =
    value instanceof Map ? [...value.keys(), ...value.values()] : value instanceof Set ? value : Object.values(value);
  for (const member of members) if (visit(member, stops, seen)) return true;
  return false;
}

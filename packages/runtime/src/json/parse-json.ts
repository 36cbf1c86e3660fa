import type { JsonValue } from "@keelson/protocol";
import { findInexactIntegers, type InexactInteger, mayHoldInexactInteger } from "./inexact-integer.ts";
import { putMember } from "./put-member.ts";

/** An integer that arrived as a number and became a text. */
export interface ArrivedInteger {
  readonly path: readonly (string | number)[];
  readonly digits: string;
}

type Container = JsonValue[] | { [name: string]: JsonValue };
/** The digits of members that arrived as numbers; `undefined` of a member that holds such ones. */
type Arrived = Map<string | number, string | undefined>;

const arrivals = new WeakMap<object, Arrived>();

/**
 * Parses JSON from outside without changing an integer. An integer whose nearest double prints other digits becomes the text of its
 * digits; fractions are rounded as usual. As long as the value is not copied, {@link jsonText} writes such integers as numbers
 * again and {@link arrivedIntegers} lists them. Texts without a number of 16 or more digits cost nothing but a look.
 * @throws SyntaxError as `JSON.parse`
 */
export function parseJson(text: string): JsonValue {
  const value = JSON.parse(text) as JsonValue;
  if (!mayHoldInexactInteger(text)) return value;
  const found = findInexactIntegers(text);
  if (found.length === 0) return value;
  const exact = JSON.parse(quoteIntegers(text, found)) as JsonValue;
  for (const { path, digits } of found) markInteger(exact, path, digits);
  return exact;
}

/** A valid JSON text with these of its integers in quotes. */
export function quoteIntegers(text: string, integers: readonly Pick<InexactInteger, "start" | "end">[]): string {
  let quoted = "";
  let from = 0;
  for (const { start, end } of integers) {
    quoted += `${text.slice(from, start)}"${text.slice(start, end)}"`;
    from = end;
  }
  return quoted + text.slice(from);
}

/** The JSON of a value. Integers that {@link parseJson} made texts of are numbers with the digits that arrived. */
export function jsonText(value: unknown): string {
  return JSON.stringify(restoreIntegers(value));
}

/**
 * A copy for `JSON.stringify`, which writes the integers that {@link parseJson} made texts of as numbers again; the value itself if
 * there are none. Integers that no double comes near stay texts if `withinDoubles` is set: some parsers refuse them.
 */
export function restoreIntegers<T>(value: T, withinDoubles: boolean = false): T {
  const arrived = arrivalsOf(value);
  if (arrived === undefined) return value;
  const copy = (Array.isArray(value) ? [...(value as readonly JsonValue[])] : { ...value }) as Container;
  for (const [step, digits] of arrived) {
    const member = memberOf(value as Container, step);
    if (digits === undefined) set(copy, step, restoreIntegers(member, withinDoubles) as JsonValue);
    else if (member === digits && !(withinDoubles && !Number.isFinite(Number(digits)))) set(copy, step, rawJson(digits));
  }
  return copy as T;
}

/** The integers of a value that {@link parseJson} made texts of. */
export function arrivedIntegers(value: unknown): readonly ArrivedInteger[] {
  return [...(arrivalsOf(value) ?? [])].flatMap(([step, digits]): readonly ArrivedInteger[] => {
    const member = memberOf(value as Container, step);
    if (digits !== undefined) return member === digits ? [{ path: [step], digits }] : [];
    return arrivedIntegers(member).map((integer) => ({ ...integer, path: [step, ...integer.path] }));
  });
}

/** Notes that the text at this place of a value is an integer that arrived as a number. */
export function markInteger(value: unknown, path: readonly (string | number)[], digits: string): void {
  let at = value;
  for (const [depth, step] of path.entries()) {
    if (typeof at !== "object" || at === null) return;
    mark(at, step, depth === path.length - 1 ? digits : undefined);
    at = memberOf(at as Container, step);
  }
}

/** Notes that a member of a container is a value with such integers, if it is one. */
export function markMember(container: object, step: string | number, member: unknown): void {
  if (arrivalsOf(member) !== undefined) mark(container, step, undefined);
}

/** Notes the integers of a value at the same members of a shallow copy of it. */
export function markCopy<T extends object>(copy: T, value: object): T {
  for (const [step, digits] of arrivals.get(value) ?? []) mark(copy, step, digits);
  return copy;
}

function mark(container: object, step: string | number, digits: string | undefined): void {
  const arrived = arrivals.get(container);
  if (arrived === undefined) arrivals.set(container, new Map([[step, digits]]));
  else arrived.set(step, digits);
}

function arrivalsOf(value: unknown): Arrived | undefined {
  return typeof value === "object" && value !== null ? arrivals.get(value) : undefined;
}

function memberOf(container: Container, step: string | number): JsonValue | undefined {
  return Object.hasOwn(container, step) ? (container as { [name: string | number]: JsonValue })[step] : undefined;
}

function set(container: Container, step: string | number, value: JsonValue): void {
  if (Array.isArray(container)) container[step as number] = value;
  else putMember(container, String(step), value);
}

/** A value that `JSON.stringify` writes as this text. */
function rawJson(text: string): JsonValue {
  return (JSON as unknown as { rawJSON(text: string): JsonValue }).rawJSON(text);
}

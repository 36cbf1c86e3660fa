import { type Page, StateError } from "@keelson/protocol";
import { compareCodePoints } from "./compare-code-points.ts";
import { checkOptionNames } from "../../json/option-names.ts";

/** Which keys a list asks for: those from `from` on, or after it, and below `end`, in the order of code points. */
export interface KeyRange {
  readonly from: string;
  readonly isAfter: boolean;
  /** Absent: up to the last. */
  readonly end: string | undefined;
  readonly limit: number;
}

/** @throws StateError `invalid-input` */
export function keyRange(prefix: string, page: Page = {}): KeyRange {
  checkOptionNames("list", page, { after: true, limit: true });
  const { after, limit = Number.POSITIVE_INFINITY } = page;
  if (typeof prefix !== "string" || !prefix.isWellFormed())
    throw new StateError({
      kind: "invalid-input",
      message: "The prefix of a list must be a well-formed string; give an empty one for all keys.",
    });
  if (!(limit >= 0) || (limit !== Number.POSITIVE_INFINITY && !Number.isSafeInteger(limit)))
    throw new StateError({ kind: "invalid-input", message: `The limit of a list must be a whole number from 0; it is ${limit}.` });
  const isAfter = after !== undefined && compareCodePoints(after, prefix) >= 0;
  return { from: isAfter ? after : prefix, isAfter, end: endOfPrefix(prefix), limit };
}

/** The keys of the range, of keys in any order. */
export function keysInRange(keys: Iterable<string>, { from, isAfter, end, limit }: KeyRange): readonly string[] {
  const found: string[] = [];
  for (const key of keys) {
    const order = compareCodePoints(key, from);
    if ((isAfter ? order > 0 : order >= 0) && (end === undefined || compareCodePoints(key, end) < 0)) found.push(key);
  }
  return found.sort(compareCodePoints).slice(0, limit);
}

/** The first string behind all that begin with `prefix`; `undefined` where there is none. */
function endOfPrefix(prefix: string): string | undefined {
  const points = Array.from(prefix, (character) => character.codePointAt(0) as number);
  for (let last = points.pop(); last !== undefined; last = points.pop()) {
    if (last === 0x10ffff) continue;
    // Surrogates are no code points of text.
    points.push(last === 0xd7ff ? 0xe000 : last + 1);
    return String.fromCodePoint(...points);
  }
  return undefined;
}

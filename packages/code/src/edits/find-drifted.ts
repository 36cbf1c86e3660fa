import { alignLines, changedLines } from "./align-lines.ts";
import type { FoundBlock } from "./find-shifted.ts";
import { type IndentedLine, indentedLine } from "./indented-line.ts";
import { lineLikeness } from "./line-likeness.ts";
import { mergeLine } from "./merge-line.ts";

/** A block of which all lines but an interior one are those of an old text. */
export interface DriftedPlace {
  /** The first line of the block, from 0. */
  readonly at: number;
  /** The line of the block that is different, from 0. */
  readonly drifted: number;
}

const MIN_LINES = 3;
const MIN_LIKENESS = 0.5;
// With one telling line beside it, the different line must be nearly the same.
const MIN_LIKENESS_ALONE = 0.75;

/** Finds the blocks with one interior line that is not as the old text says. */
export function driftedPlaces(lines: readonly IndentedLine[], old: readonly string[]): readonly DriftedPlace[] {
  const given = old.map(indentedLine);
  const found: DriftedPlace[] = [];
  if (old.length < MIN_LINES) return found;
  for (let at = 0; at + given.length <= lines.length; at++) {
    const drifted = driftedLine(given, lines, at);
    if (drifted !== undefined) found.push({ at, drifted });
  }
  return found;
}

/**
 * Returns the block at a place. The line that is different stays as it is in the file, unless the edit changes another part of it.
 * `undefined` if too little of the block is the same, or if the edit drops the line or changes the same part of it.
 */
export function driftedBlock(
  texts: readonly string[],
  { at, drifted }: DriftedPlace,
  old: readonly string[],
  wanted: readonly string[],
): FoundBlock | undefined {
  const there = texts[at + drifted] as string;
  const telling = old.filter((line, index) => index !== drifted && (line.match(/[\p{L}\p{N}_]/gu) ?? []).length >= 3).length;
  const likeness = lineLikeness(old[drifted] as string, there);
  if (telling === 0 || likeness < (telling > 1 ? MIN_LIKENESS : MIN_LIKENESS_ALONE)) return undefined;
  const merged = keepDrifted(old, wanted, drifted, there);
  return merged === undefined ? undefined : { at, old: old.map((text, index) => (index === drifted ? there : text)), wanted: merged };
}

/** The one interior line that is different at a place; `undefined` if there is none, or more than one. */
function driftedLine(given: readonly IndentedLine[], lines: readonly IndentedLine[], at: number): number | undefined {
  let drifted: number | undefined;
  for (let index = 0; index < given.length; index++) {
    const [one, other] = [given[index] as IndentedLine, lines[at + index] as IndentedLine];
    if (one.rest === other.rest && (one.rest === "" || one.indent === other.indent)) continue;
    if (drifted !== undefined || index === 0 || index === given.length - 1 || one.rest === "") return undefined;
    drifted = index;
  }
  return drifted;
}

/** The new lines, with the line as it is in the file; `undefined` if the edit changes the same part of it, or drops it. */
function keepDrifted(old: readonly string[], wanted: readonly string[], drifted: number, there: string): string[] | undefined {
  const pairs = alignLines(old, wanted);
  const kept = pairs.find(([before]) => before === drifted);
  const result = [...wanted];
  if (kept !== undefined) {
    result[kept[1]] = there;
    return result;
  }
  for (const { before, after } of changedLines(pairs, old.length, wanted.length)) {
    if (drifted < before[0] || drifted >= before[1]) continue;
    const isBlank = (text: string): boolean => text.replace(/\s+/g, "") === (old[drifted] as string).replace(/\s+/g, "");
    if (isBlank(there)) return result;
    if (before[1] - before[0] !== after[1] - after[0]) return undefined;
    const index = after[0] + drifted - before[0];
    const line = mergeLine(there, old[drifted] as string, wanted[index] as string);
    if (line === undefined) return undefined;
    result[index] = line;
    return result;
  }
  return undefined;
}

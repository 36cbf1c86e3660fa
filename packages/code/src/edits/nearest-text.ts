import { splitLines } from "../tools/text-lines.ts";

/** The place in a text that is most like what was looked for. */
export interface NearestText {
  /** The first line, from 1. */
  readonly line: number;
  /** The lines there, with their numbers. */
  readonly excerpt: string;
  /** Nothing but white space is different. */
  readonly onlyWhitespace: boolean;
}

const MAX_SCANNED_LINES = 20_000;
const MAX_EXCERPT_LINES = 40;
const MAX_EXCERPT_CHARACTERS = 2000;
const CONTEXT_LINES = 1;
// Below this, two lines are alike by chance.
const MIN_LIKENESS = 0.5;

/** `undefined` when nothing in `text` is like `wanted`. */
export function findNearestText(text: string, wanted: string): NearestText | undefined {
  const lines = splitLines(text);
  const normalized = lines.slice(0, MAX_SCANNED_LINES).map(normalize);
  const wantedLines = trimBlank(splitLines(wanted).map(normalize));
  if (wantedLines.length === 0) return undefined;
  const start = bestStart(normalized, wantedLines);
  if (start === undefined) return undefined;
  const onlyWhitespace = wantedLines.every((line, index) => line === normalized[start + index]);
  return { line: start + 1, excerpt: excerptOf(lines, start, wantedLines.length), onlyWhitespace };
}

function normalize(line: string): string {
  return line.trim().replace(/\s+/g, " ");
}

function trimBlank(lines: readonly string[]): string[] {
  const first = lines.findIndex((line) => line !== "");
  return first === -1 ? [] : lines.slice(first, lines.findLastIndex((line) => line !== "") + 1);
}

/** Every line that stands in both votes for where the whole would begin; without one, the line most like the longest decides. */
function bestStart(lines: readonly string[], wanted: readonly string[]): number | undefined {
  const offsets = new Map<string, number[]>();
  for (const [index, line] of wanted.entries()) {
    if (line.length < 3) continue; // a brace is everywhere
    const known = offsets.get(line);
    if (known === undefined) offsets.set(line, [index]);
    else known.push(index);
  }
  const votes = new Map<number, number>();
  for (const [index, line] of lines.entries()) {
    for (const offset of offsets.get(line) ?? []) {
      const start = Math.max(0, index - offset);
      votes.set(start, (votes.get(start) ?? 0) + line.length);
    }
  }
  const [first, ...others] = votes;
  if (first !== undefined) return others.reduce((best, vote) => (vote[1] > best[1] ? vote : best), first)[0];
  return mostAlike(lines, wanted);
}

function mostAlike(lines: readonly string[], wanted: readonly string[]): number | undefined {
  const anchor = wanted.reduce((longest, line) => (line.length > longest.length ? line : longest));
  const pairs = pairsOf(anchor);
  let best: number | undefined;
  let bestLikeness = MIN_LIKENESS;
  for (const [index, line] of lines.entries()) {
    // No line of such a length can be alike enough.
    if (line.length * 3 < anchor.length || anchor.length * 3 < line.length) continue;
    const likeness = sharedPairs(pairs, line, anchor.length - 1);
    if (likeness > bestLikeness) {
      best = index;
      bestLikeness = likeness;
    }
  }
  return best === undefined ? undefined : Math.max(0, best - wanted.indexOf(anchor));
}

function pairsOf(line: string): Map<string, number> {
  const pairs = new Map<string, number>();
  for (let index = 0; index + 1 < line.length; index++) {
    const pair = line.slice(index, index + 2);
    pairs.set(pair, (pairs.get(pair) ?? 0) + 1);
  }
  return pairs;
}

/** The share of neighbouring letters that two lines have in common, 0 to 1. */
function sharedPairs(pairs: ReadonlyMap<string, number>, line: string, total: number): number {
  let shared = 0;
  for (const [pair, count] of pairsOf(line)) shared += Math.min(count, pairs.get(pair) ?? 0);
  return (2 * shared) / Math.max(1, total + line.length - 1);
}

function excerptOf(lines: readonly string[], start: number, length: number): string {
  const from = Math.max(0, start - CONTEXT_LINES);
  const shown: string[] = [];
  let characters = 0;
  for (let index = from; index < Math.min(lines.length, start + length + CONTEXT_LINES, from + MAX_EXCERPT_LINES); index++) {
    const line = `${index + 1}\t${lines[index]}`;
    characters += line.length + 1;
    if (characters > MAX_EXCERPT_CHARACTERS) break; // a line cut short would invite a wrong copy
    shown.push(line);
  }
  return shown.join("\n");
}

import type { LineRange } from "./line-ranges.ts";
import { estimateTokens } from "./estimate-tokens.ts";
import { numberLines, showCharacters, type TokenRoom } from "./numbered-lines.ts";
import type { TextDocument } from "./open-document.ts";
import { makeSkeleton } from "./skeleton.ts";

/** A text as the model receives it. */
export interface PresentedText {
  readonly text: string;
  /** The regions whose lines are shown whole. */
  readonly shown: readonly Region[];
}

export interface Region {
  readonly start: number;
  readonly end: number;
}

export interface PresentOptions {
  /** The path in messages. */
  readonly name: string;
  /** The regions that were asked for. `undefined`: the whole file. */
  readonly ranges: readonly LineRange[] | undefined;
  readonly maxTokens: number;
}

/** Shows a text: whole if it fits, else its skeleton; or the regions that were asked for, as far as they fit. */
export function presentText(document: TextDocument, options: PresentOptions): PresentedText {
  const { lines, notes } = document;
  if (lines.length === 0) return { text: "[The file is empty.]", shown: [] };
  const presented =
    options.ranges === undefined ? presentWhole(document, options) : presentRanges(lines, options.ranges, options.maxTokens);
  return { ...presented, text: [presented.text, ...notes].join("\n") };
}

function presentWhole(document: TextDocument, { name, maxTokens }: PresentOptions): PresentedText {
  const { lines } = document;
  const tokens = tokensOf(lines);
  if (tokens <= maxTokens) {
    const { shown } = numberLines(
      lineAt(lines),
      { start: 1, end: lines.length },
      { tokens: Number.POSITIVE_INFINITY },
      { maxLineCharacters: Number.POSITIVE_INFINITY },
    );
    return { text: shown.join("\n"), shown: [{ start: 1, end: lines.length }] };
  }
  const size = `${name} has ${count(lines.length, "line")}, about ${count(tokens, "token")}; one read may use ${count(maxTokens, "token")} now`;
  const { entries, bodies, shown } = makeSkeleton(lines, document.outline(), maxTokens);
  if (entries.length < 2) {
    const beginning = presentRanges(lines, [{ kind: "lines", start: 1 }], maxTokens);
    return { ...beginning, text: [`[${size}. Its beginning:]`, ...keyNotes(lines), beginning.text].join("\n") };
  }
  const [first] = document.outline();
  const example = entries.find((entry) => !entry.startsWith(`${first?.start}-`)) ?? (entries[0] as string);
  const pages = document.form === "pdf" ? "pages, or " : "";
  const text = [
    `[${size}. Its parts, as line ranges:]`,
    ...entries,
    ...bodies,
    `[Read on with ${pages}ranges of lines, as in ranges ["${example.split("\t", 1)[0]}"]; several at a time save calls.]`,
  ].join("\n");
  return { text, shown };
}

function lineAt(lines: readonly string[]): (number: number) => string {
  return (number) => lines[number - 1] as string;
}

function tokensOf(lines: readonly string[]): number {
  return lines.reduce((sum, line, index) => sum + estimateTokens(`${index + 1}\t${line}`) + 1, 0);
}

/** JSON in one line is described by its keys. */
function keyNotes(lines: readonly string[]): readonly string[] {
  if (lines.length > 1 || !/^\s*[[{]/.test(lines[0] as string)) return [];
  try {
    const value: unknown = JSON.parse(lines[0] as string);
    if (Array.isArray(value)) return [`[One line of JSON: a list of ${count(value.length, "element")}.]`];
    const keys = Object.keys(value as object);
    return [
      `[One line of JSON with the keys ${keys
        .slice(0, 40)
        .map((key) => JSON.stringify(key))
        .join(", ")}${keys.length > 40 ? ` and ${keys.length - 40} more` : ""}.]`,
    ];
  } catch {
    return [];
  }
}

function presentRanges(lines: readonly string[], ranges: readonly LineRange[], maxTokens: number): PresentedText {
  const room: TokenRoom = { tokens: maxTokens };
  const total = lines.length;
  const regions: Region[] = [];
  const beyond: number[] = [];
  for (const range of ranges) {
    if (range.kind === "characters") continue;
    const start = range.kind === "last" ? Math.max(1, total - range.count + 1) : range.start;
    const end = range.kind === "last" ? total : Math.min(total, range.end ?? total);
    if (start > total) beyond.push(start);
    else regions.push({ start, end });
  }
  const parts: string[] = [];
  const shown: Region[] = [];
  const left: Region[] = [];
  const done: Region[] = [];
  for (const region of joinRegions(regions)) {
    if (room.tokens <= 0) {
      left.push(region);
      continue;
    }
    if (parts.length > 0) parts.push("…");
    // A single line is shown as far as there is room for it.
    const isSingle = region.start === region.end;
    const line = lines[region.start - 1] as string;
    if (isSingle && line.length > 2000) {
      const all = estimateTokens(line) <= room.tokens;
      parts.push(all ? `${region.start}\t${line}` : showCharacters(line, region.start, { from: 1 }, room));
      if (all) {
        room.tokens -= estimateTokens(line);
        shown.push(region);
      }
      done.push(region);
      continue;
    }
    const { shown: numbered, next, isCut } = numberLines(lineAt(lines), region, room);
    parts.push(...numbered);
    const end = (next ?? region.end + 1) - 1;
    done.push({ start: region.start, end });
    if (!isCut) shown.push({ start: region.start, end });
    if (next !== undefined) {
      left.push({ start: next, end: region.end });
      room.tokens = 0;
    }
  }
  for (const range of ranges) {
    if (range.kind !== "characters") continue;
    if (range.line > total) beyond.push(range.line);
    else if (room.tokens <= 0) left.push({ start: range.line, end: range.line });
    else parts.push(showCharacters(lines[range.line - 1] as string, range.line, range, room));
  }
  const footer = footerOf({ total, done, left });
  return {
    text: [
      ...parts,
      ...(footer === undefined ? [] : [footer]),
      ...beyond.map((start) => `[The file has ${count(total, "line")}; line ${start} is behind its end.]`),
    ].join("\n"),
    shown,
  };
}

/** Says which lines are shown, unless they are all. */
function footerOf({
  total,
  done,
  left,
}: {
  readonly total: number;
  readonly done: readonly Region[];
  readonly left: readonly Region[];
}): string | undefined {
  if (done.length === 0) return left.length === 0 ? undefined : `[There was no room. Read on with ranges ${rangesText(left)}.]`;
  const [first] = done as [Region];
  if (left.length === 0 && done.length === 1 && first.start === 1 && first.end === total) return undefined;
  const places = done.map(({ start, end }) => `${start} to ${end}`).join(", ");
  const isOneMore = done.length === 1 && left.length === 0 && first.end < total;
  const isPage = done.length === 1 && left.length === 1 && left[0]?.end === total;
  const next =
    isOneMore || isPage ? ` Read on with offset ${first.end + 1}.` : left.length > 0 ? ` Read on with ranges ${rangesText(left)}.` : "";
  return `[Lines ${places} of ${total}.${next}]`;
}

function rangesText(regions: readonly Region[]): string {
  return `[${regions.map(({ start, end }) => `"${start}-${end}"`).join(", ")}]`;
}

/** Sorts regions, and joins those that overlap or touch. */
function joinRegions(regions: readonly Region[]): readonly Region[] {
  const joined: { start: number; end: number }[] = [];
  for (const { start, end } of regions.toSorted((a, b) => a.start - b.start)) {
    const last = joined.at(-1);
    if (last !== undefined && start <= last.end + 1) last.end = Math.max(last.end, end);
    else joined.push({ start, end });
  }
  return joined;
}

function count(number: number, noun: string): string {
  return `${Math.floor(number).toLocaleString("en-US")} ${noun}${number === 1 ? "" : "s"}`;
}

import { type Block, createBlock, equalParts, type Outliner } from "./block.ts";

const TAB_COLUMNS = 4;
/** Runs of single lines that are longer than this are divided when they are looked into. */
const MAX_RUN_LINES = 40;
/** Deeper blocks are not looked for: a file may be indented without end. */
const MAX_DEPTH = 40;

/** Begins no block: closes, continues or opens the one before. */
const CONTINUATION = /^(?:[)\]}>]|<\/|(?:else|elif|elsif|except|finally|catch|rescue|ensure|when|then|end|fi|done|esac|do|begin)\b|[{(]$)/;
const DATA_CONTINUATION = /^[)\]}]/;
/** Belongs to the block behind it. */
const COMMENT = /^(?:\/\/|\/\*|\*|#(?!include|define|if|pragma|!)|--|;|"""|'''|@|\[\w+(?:\(.*\))?\]$|%)/;
const IMPORT = /^(?:import|from|use|using|#include|require|package|const .* = require|export .* from)\b/;

/** Divides a text by its indentation: a line at the outermost column begins a block, with the comments above it and all that is indented below it. */
export const outlineByIndentation: Outliner = (lines) => outlineRange(lines, { start: 1, end: lines.length, depth: 0, isData: false });

/** The same for JSON and YAML, in which a bracket alone begins an element. */
export const outlineDataByIndentation: Outliner = (lines) => outlineRange(lines, { start: 1, end: lines.length, depth: 0, isData: true });

interface Range {
  readonly start: number;
  readonly end: number;
  readonly depth: number;
  readonly isData: boolean;
}

interface Head {
  /** The line that names the block. */
  readonly line: number;
  /** The first line of the block: that of the comments above. */
  readonly from: number;
  readonly hasBody: boolean;
}

function outlineRange(lines: readonly string[], range: Range): readonly Block[] {
  const { start, end, depth, isData } = range;
  if (end < start) return [];
  const heads = findHeads(lines, range);
  if (heads.length === 0) return [createBlock(start, end, lines[start - 1] ?? "")];
  const groups = groupHeads(lines, heads);
  return groups.map((group, index) => {
    const from = index === 0 ? start : (group[0] as Head).from;
    const next = groups[index + 1]?.[0];
    const to = next === undefined ? end : next.from - 1;
    const title = titleOf(lines, group, to, isData);
    if (group.length > 1 || to === from)
      return createBlock(from, to, title, () => (to - from >= MAX_RUN_LINES ? equalParts(lines, from, to) : []));
    return createBlock(from, to, title, () =>
      depth >= MAX_DEPTH ? [] : childrenOf(lines, group[0] as Head, { start: from, end: to, depth: depth + 1, isData }),
    );
  });
}

function findHeads(lines: readonly string[], { start, end, isData }: Range): readonly Head[] {
  let base = Number.POSITIVE_INFINITY;
  for (let at = start; at <= end; at++) {
    const line = lines[at - 1] as string;
    if (line.trim() !== "") base = Math.min(base, columnsOf(line));
  }
  const continuation = isData ? DATA_CONTINUATION : CONTINUATION;
  const heads: { line: number; from: number; hasBody: boolean }[] = [];
  let comments: number | undefined;
  for (let at = start; at <= end; at++) {
    const line = lines[at - 1] as string;
    const text = line.trim();
    if (text === "") continue;
    if (columnsOf(line) > base) {
      const last = heads.at(-1);
      if (last !== undefined && comments === undefined) last.hasBody = true;
      continue;
    }
    if (continuation.test(text)) {
      const last = heads.at(-1);
      if (last !== undefined) last.hasBody = true;
      comments = undefined;
    } else if (COMMENT.test(text)) comments ??= at;
    else {
      heads.push({ line: at, from: comments ?? at, hasBody: false });
      comments = undefined;
    }
  }
  return heads;
}

/** Puts single lines that follow each other into one group, imports apart from others. */
function groupHeads(lines: readonly string[], heads: readonly Head[]): readonly (readonly Head[])[] {
  const groups: Head[][] = [];
  for (const head of heads) {
    const group = groups.at(-1);
    const previous = group?.at(-1);
    if (
      group !== undefined &&
      previous !== undefined &&
      isSingle(previous) &&
      isSingle(head) &&
      isImport(lines, previous) === isImport(lines, head)
    )
      group.push(head);
    else groups.push([head]);
  }
  return groups;
}

function isSingle(head: Head): boolean {
  return !head.hasBody;
}

function isImport(lines: readonly string[], { line }: Head): boolean {
  return IMPORT.test((lines[line - 1] as string).trim());
}

function titleOf(lines: readonly string[], group: readonly Head[], end: number, isData: boolean): string {
  const { line } = group[0] as Head;
  const title = (lines[line - 1] as string).trim();
  if (group.length > 1) return `${title} … (${group.length} ${isImport(lines, group[0] as Head) ? "imports" : "single lines"})`;
  // A bracket alone says nothing: the first line inside of it does.
  return isData && /^[[{]$/.test(title) && line < end ? `${title} ${(lines[line] as string).trim()}` : title;
}

/** The parts of a block: its head with the comments above it, and the blocks that are indented below. */
function childrenOf(lines: readonly string[], { line }: Head, range: Range): readonly Block[] {
  const { end, depth } = range;
  // The last line closes the block if it is as far out as the head.
  const column = columnsOf(lines[line - 1] as string);
  let last = end;
  while (last > line && ((lines[last - 1] as string).trim() === "" || columnsOf(lines[last - 1] as string) <= column)) last--;
  if (last <= line) return [];
  const inner = outlineRange(lines, { ...range, start: line + 1, end: last, depth });
  if (inner.length === 1 && (inner[0] as Block).children().length === 0) return [];
  const [first, ...others] = inner as [Block, ...Block[]];
  const blocks = [createBlock(range.start, line, lines[line - 1] as string), first, ...others];
  const closing = blocks.pop() as Block;
  return [
    ...blocks,
    createBlock(closing.start, end, closing.title, () =>
      closing.children().length > 0 && closing.end === end ? closing.children() : extended(closing, end),
    ),
  ];
}

/** The children of a block that now ends later, the last of them with it. */
function extended(block: Block, end: number): readonly Block[] {
  const children = block.children();
  const last = children.at(-1);
  if (last === undefined) return [];
  return [...children.slice(0, -1), createBlock(last.start, end, last.title, () => extended(last, end))];
}

function columnsOf(line: string): number {
  let columns = 0;
  for (const character of line) {
    if (character === " ") columns++;
    else if (character === "\t") columns += TAB_COLUMNS - (columns % TAB_COLUMNS);
    else break;
  }
  return columns;
}

import type { Block } from "./outline/block.ts";
import { estimateTokens } from "./estimate-tokens.ts";
import { numberLines, type TokenRoom } from "./numbered-lines.ts";
import { namesOf, tellingBlocks } from "./telling-blocks.ts";

const MAX_ENTRIES = 60;
/** Shorter blocks are not divided. */
const LEAST_DIVIDED_LINES = 25;
const ENTRIES_SHARE = 0.4;
const BODIES_SHARE = 0.5;
const BODIES = 2;

export interface Skeleton {
  /** One line for each block: its line range, a tab, its title. The ranges cover the file without a gap and do not overlap. */
  readonly entries: readonly string[];
  /** The lines of the most telling blocks, with a heading each. */
  readonly bodies: readonly string[];
  /** The regions that `bodies` shows whole. */
  readonly shown: readonly { readonly start: number; readonly end: number }[];
}

/** Shows the structure of a text that is too long to be shown whole. */
export function makeSkeleton(lines: readonly string[], blocks: readonly Block[], maxTokens: number): Skeleton {
  const { entries, leaves } = entriesOf(blocks, maxTokens * ENTRIES_SHARE);
  const room: TokenRoom = { tokens: maxTokens * BODIES_SHARE };
  const telling = tellingBlocks(lines, leaves, { count: BODIES, maxTokens: room.tokens / BODIES });
  const bodies: string[] = [];
  for (const { start, end } of telling) {
    bodies.push(`[Lines ${start} to ${end}:]`);
    // They fit, so that no line is left out.
    bodies.push(...numberLines((number) => lines[number - 1] as string, { start, end }, { tokens: Number.POSITIVE_INFINITY }).shown);
  }
  return { entries, bodies, shown: telling.map(({ start, end }) => ({ start, end })) };
}

function entriesOf(
  blocks: readonly Block[],
  maxTokens: number,
): { readonly entries: readonly string[]; readonly leaves: readonly Block[] } {
  let leaves = divide(blocks, MAX_ENTRIES);
  let entries = joinSmall(leaves, MAX_ENTRIES);
  for (let most = MAX_ENTRIES; estimateTokens(entries.join("\n")) > maxTokens && most > 4; most = Math.floor(most * 0.7)) {
    leaves = divide(blocks, most);
    entries = joinSmall(leaves, most);
  }
  return { entries, leaves };
}

/** Replaces the longest blocks by their parts while there is room for more entries. */
function divide(blocks: readonly Block[], maxEntries: number): readonly Block[] {
  let leaves = [...blocks];
  const whole = new Set<Block>();
  for (;;) {
    const longest = leaves.reduce<Block | undefined>(
      (found, block) => (whole.has(block) || (found !== undefined && linesOf(found) >= linesOf(block)) ? found : block),
      undefined,
    );
    if (longest === undefined || linesOf(longest) < LEAST_DIVIDED_LINES) return leaves;
    const children = longest.children();
    if (children.length < 2 || leaves.length + children.length - 1 > maxEntries) whole.add(longest);
    else leaves = leaves.flatMap((block) => (block === longest ? children : [block]));
  }
}

function linesOf({ start, end }: Block): number {
  return end - start + 1;
}

/** Joins neighbours so that no more than `maxEntries` are left. */
function joinSmall(blocks: readonly Block[], maxEntries: number): readonly string[] {
  const size = Math.ceil(blocks.length / maxEntries);
  if (size <= 1) return blocks.map(({ start, end, title }) => entry(start, end, title));
  const entries: string[] = [];
  for (let at = 0; at < blocks.length; at += size) {
    const group = blocks.slice(at, at + size);
    const [first, last] = [group[0] as Block, group.at(-1) as Block];
    const title = group.length === 1 ? first.title : `${namesOf(group)} (${group.length} blocks)`;
    entries.push(entry(first.start, last.end, title));
  }
  return entries;
}

function entry(start: number, end: number, title: string): string {
  return `${start}-${end}\t${title}`;
}

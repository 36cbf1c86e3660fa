import type { Block } from "./outline/block.ts";
import { estimateTokens } from "./estimate-tokens.ts";
import { numberLines, type TokenRoom } from "./numbered-lines.ts";
import { namesOf, tellingBlocks } from "./telling-blocks.ts";

const MAX_ENTRIES = 60;
const LEAST_ENTRIES = 4;
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
  let found = divide(blocks, MAX_ENTRIES);
  for (let most = MAX_ENTRIES; estimateTokens(found.map(entryOf).join("\n")) > maxTokens && most > LEAST_ENTRIES;)
    found = divide(blocks, (most = Math.floor(most * 0.7)));
  return { entries: found.map(entryOf), leaves: found.flatMap(membersOf) };
}

/** Blocks that share an entry, because there is no room for one each. */
interface Group extends Block {
  readonly members: readonly Block[];
}

function membersOf(block: Block): readonly Block[] {
  return "members" in block ? (block as Group).members : [block];
}

/** Replaces the longest blocks by their parts while there is room for more entries. */
function divide(blocks: readonly Block[], maxEntries: number): readonly Block[] {
  let leaves = groupBlocks(blocks, maxEntries);
  const whole = new Set<Block>();
  while (leaves.length < maxEntries) {
    const longest = leaves.reduce<Block | undefined>(
      (found, block) => (whole.has(block) || (found !== undefined && linesOf(found) >= linesOf(block)) ? found : block),
      undefined,
    );
    if (longest === undefined || linesOf(longest) < LEAST_DIVIDED_LINES) break;
    const children = groupBlocks(longest.children(), maxEntries - leaves.length + 1);
    if (children.length < 2) whole.add(longest);
    else leaves = leaves.flatMap((block) => (block === longest ? children : [block]));
  }
  return leaves;
}

/** Joins neighbours into groups, so that no more than `count` entries are left. */
function groupBlocks(blocks: readonly Block[], count: number): readonly Block[] {
  const size = Math.ceil(blocks.length / count);
  if (size <= 1) return blocks;
  const groups: Group[] = [];
  for (let at = 0; at < blocks.length; at += size) {
    const members = blocks.slice(at, at + size);
    const [first, last] = [members[0] as Block, members.at(-1) as Block];
    const title = members.length === 1 ? first.title : `${namesOf(members)} (${members.length} blocks)`;
    groups.push({ start: first.start, end: last.end, title, children: () => (members.length === 1 ? first.children() : members), members });
  }
  return groups;
}

function linesOf({ start, end }: Block): number {
  return end - start + 1;
}

function entryOf({ start, end, title }: Block): string {
  return `${start}-${end}\t${title}`;
}

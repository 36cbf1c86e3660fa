import type { Block } from "./outline/block.ts";
import { estimateTokens } from "./estimate-tokens.ts";

const LEAST_LINES = 3;
/** The uses of names are counted in the first lines of a file only, to bound the work. */
const MAX_COUNTED_LINES = 50_000;
const MAX_COUNTED_CHARACTERS = 500;
const MAX_COUNTED_USES = 15;
const MAX_BRANCHES = 20;

const PUBLIC = /^(?:export\b|pub\b|public\b|module\.exports|exports\.|func [A-Z]|def (?!_)|class\b|fn main|#{1,2}\s)/;
const ENTRANCE = /\b(?:main|run|execute|handle\w*|create\w*|start|init|default|__init__|constructor)\b/i;
const ASIDE = /\b(?:test|tests|describe|it|spec|deprecated|mock|fixture)\b/i;
const BRANCH = /\b(?:if|else|for|while|switch|case|match|try|catch|except|return|throw|raise|await|yield)\b/g;
const MAX_NAMES_CHARACTERS = 120;
const NAME =
  /(?:function\*?|class|interface|struct|enum|trait|impl|fn|def|func|type|const|let|var|module|namespace|sub|proc)\s+(?:\([^)]*\)\s*)?([\p{L}_$][\p{L}\p{N}_$]*)|([\p{L}_$][\p{L}\p{N}_$]*)\s*\(/u;

/**
 * Returns the blocks that say most of what a file does: public ones, ones that others use, ones with many decisions.
 * @param options.maxTokens longer blocks are passed over
 */
export function tellingBlocks(
  lines: readonly string[],
  blocks: readonly Block[],
  { count, maxTokens }: { readonly count: number; readonly maxTokens: number },
): readonly Block[] {
  const uses = countWords(lines);
  const rated = blocks.flatMap((block) => {
    if (block.end - block.start + 1 < LEAST_LINES) return [];
    const body = lines.slice(block.start - 1, block.end).join("\n");
    // A line number and a tab for each line.
    if (estimateTokens(body) + (block.end - block.start + 1) * 2 > maxTokens) return [];
    return [{ block, rating: rate(block, body, uses) }];
  });
  return rated
    .toSorted((a, b) => b.rating - a.rating || a.block.start - b.block.start)
    .slice(0, count)
    .map(({ block }) => block)
    .toSorted((a, b) => a.start - b.start);
}

function rate({ title, start, end }: Block, body: string, uses: ReadonlyMap<string, number>): number {
  const name = nameIn(title);
  const used = name === undefined ? 0 : Math.min(MAX_COUNTED_USES, (uses.get(name) ?? 1) - 1);
  const branches = Math.min(MAX_BRANCHES, body.match(BRANCH)?.length ?? 0);
  return (
    Math.log2(end - start + 1) +
    2 * Math.log2(1 + used) +
    branches / 4 +
    (PUBLIC.test(title) ? 2 : 0) +
    (ENTRANCE.test(title) ? 1.5 : 0) -
    (ASIDE.test(title) ? 2 : 0)
  );
}

function nameIn(title: string): string | undefined {
  const named = NAME.exec(title);
  return named?.[1] ?? named?.[2];
}

/** Returns the names of blocks in one line, as many as fit. */
export function namesOf(blocks: readonly Block[]): string {
  const names = blocks.map(({ title }) => nameIn(title) ?? title);
  let shown = names[0] as string;
  for (const name of names.slice(1, -1)) {
    if (shown.length + name.length > MAX_NAMES_CHARACTERS) break;
    shown += `, ${name}`;
  }
  return `${shown} … ${names.at(-1)}`;
}

function countWords(lines: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const line of lines.slice(0, MAX_COUNTED_LINES))
    for (const word of line.slice(0, MAX_COUNTED_CHARACTERS).match(/[\p{L}_$][\p{L}\p{N}_$]*/gu) ?? [])
      counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

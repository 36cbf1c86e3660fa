/** Lines that belong together, such as a function, a section or a page. */
export interface Block {
  /** The first line, counted from 1. */
  readonly start: number;
  /** The last line. */
  readonly end: number;
  /** The line that names it, shortened. */
  readonly title: string;
  /** The blocks inside of it. They cover it without a gap and do not overlap; none if it has no parts. */
  children(): readonly Block[];
}

/** Divides a text into its top-level blocks, which cover all lines without a gap and do not overlap. A grammar can take the place of the indentation. */
export type Outliner = (lines: readonly string[]) => readonly Block[];

const MAX_TITLE_CHARACTERS = 100;

/** Makes a block whose children are found when they are first asked for. */
export function createBlock(start: number, end: number, title: string, findChildren: () => readonly Block[] = () => []): Block {
  let found: readonly Block[] | undefined;
  return { start, end, title: shortTitle(title), children: () => (found ??= findChildren()) };
}

function shortTitle(line: string): string {
  // A line may be as long as its file: patterns see its beginning alone.
  const whole = line
    .trimStart()
    .slice(0, 4 * MAX_TITLE_CHARACTERS)
    .trimEnd();
  const trimmed = whole.replace(/\s*\{$/, "") || whole;
  return trimmed.length <= MAX_TITLE_CHARACTERS ? trimmed : `${trimmed.slice(0, MAX_TITLE_CHARACTERS).toWellFormed()}…`;
}

/** Divides lines that have no structure into parts of equal length. */
export function equalParts(lines: readonly string[], start: number, end: number, parts = 20): readonly Block[] {
  const size = Math.max(1, Math.ceil((end - start + 1) / parts));
  const blocks: Block[] = [];
  for (let from = start; from <= end; from += size) {
    const to = Math.min(end, from + size - 1);
    blocks.push(createBlock(from, to, lines[from - 1] ?? ""));
  }
  return blocks;
}

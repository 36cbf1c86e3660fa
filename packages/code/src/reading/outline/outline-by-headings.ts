import { type Block, createBlock, type Outliner } from "./block.ts";

interface Heading {
  readonly line: number;
  /** 1 is the outermost. */
  readonly level: number;
  readonly title: string;
}

/** Divides a text at headings, each of which owns the lines up to the next one of its level. */
function outlineByHeadings(lines: readonly string[], headings: readonly Heading[]): readonly Block[] {
  if (lines.length === 0) return [];
  return sectionsOf(headings, { start: 1, end: lines.length, title: lines[0] as string });
}

interface Stretch {
  readonly start: number;
  readonly end: number;
  readonly title: string;
}

function sectionsOf(headings: readonly Heading[], { start, end, title }: Stretch): readonly Block[] {
  if (headings.length === 0) return [createBlock(start, end, title)];
  const outermost = Math.min(...headings.map(({ level }) => level));
  const tops = headings.filter(({ level }) => level === outermost);
  const first = tops[0] as Heading;
  const before = headings.filter(({ line }) => line < first.line);
  const preface = first.line > start ? sectionsOf(before, { start, end: first.line - 1, title }) : [];
  return [
    ...preface,
    ...tops.map((top, index) => {
      const to = (tops[index + 1]?.line ?? end + 1) - 1;
      const inner = headings.filter(({ line }) => line > top.line && line <= to);
      return createBlock(top.line, to, top.title, () =>
        inner.length === 0 ? [] : sectionsOf(inner, { start: top.line, end: to, title: top.title }),
      );
    }),
  ];
}

/** Divides Markdown at its headings, outside of code fences. */
export const outlineMarkdown: Outliner = (lines) => {
  const headings: Heading[] = [];
  let fence: string | undefined;
  lines.forEach((line, index) => {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (mark !== undefined && (fence === undefined || (mark.startsWith(fence) && line.trim() === mark))) {
      fence = fence === undefined ? mark : undefined;
      return;
    }
    if (fence !== undefined) return;
    const level = /^ {0,3}(#{1,6})(?:\s|$)/.exec(line)?.[1]?.length;
    if (level !== undefined) headings.push({ line: index + 1, level, title: line });
    else if (
      /^(?:=+|-+)\s*$/.test(line) &&
      index > 0 &&
      isParagraph(lines[index - 1] as string) &&
      (index === 1 || (lines[index - 2] as string).trim() === "")
    )
      headings.push({ line: index, level: line.startsWith("=") ? 1 : 2, title: lines[index - 1] as string });
  });
  return outlineByHeadings(lines, headings);
};

function isParagraph(line: string): boolean {
  return /^ {0,3}[^\s#>|`~*+-]/.test(line);
}

/** Divides a text at the lines that match, all of one level. */
export function outlineAtLines(heading: RegExp): Outliner {
  return (lines) =>
    outlineByHeadings(
      lines,
      lines.flatMap((line, index) => (heading.test(line) ? [{ line: index + 1, level: 1, title: line }] : [])),
    );
}

import { graphemeWidth } from "./grapheme-width.ts";

const GRAPHEMES = new Intl.Segmenter(undefined, { granularity: "grapheme" });
// One column for each UTF-16 unit: ASCII, letters of Latin-1, punctuation, arrows, and the lines and blocks that frames are made of.
const NARROW = /^[\u0020-\u007e\u00a0-\u00ac\u00ae-\u02ff\u2010-\u2027\u2030-\u205e\u2190-\u21ff\u2500-\u259f]*$/;
/** Columns of a tab, which the screen writes as spaces. */
const TAB_WIDTH = 3;
/** The most columns that one UTF-16 unit takes. */
const MAX_UNIT_WIDTH = 3;
/** Units that are read at a time when the beginning of a long text is measured. */
const STRETCH = 256;

/** Returns the columns that a text takes in a terminal. Of control characters it may have tabs only, which become spaces. */
export function displayWidth(text: string): number {
  if (NARROW.test(text)) return text.length;
  let width = 0;
  for (const { segment } of GRAPHEMES.segment(withoutTabs(text))) width += graphemeWidth(segment);
  return width;
}

function cells(grapheme: string): number {
  return grapheme === "\t" ? TAB_WIDTH : graphemeWidth(grapheme);
}

/** Returns the text with spaces in place of tabs, so that its width depends on no tab stops. */
export function withoutTabs(text: string): string {
  return text.includes("\t") ? text.replaceAll("\t", " ".repeat(TAB_WIDTH)) : text;
}

/** Returns the longest beginning of `text` that fits into `columns`. */
export function fitting(text: string, columns: number): string {
  return text.slice(0, fittingEnd(text, columns));
}

/** Returns the first grapheme of `text`. */
export function firstGrapheme(text: string): string {
  for (const { segment } of GRAPHEMES.segment(text)) return segment;
  return "";
}

/** Returns `text`, or its beginning with an ellipsis, in at most `columns`. */
export function truncated(text: string, columns: number): string {
  if (text.length * MAX_UNIT_WIDTH <= columns || displayWidth(text) <= columns) return text;
  return `${fitting(text, columns - 1)}…`;
}

/** Returns the end of the longest beginning that fits. The time depends on the columns, not on the length of the text. */
function fittingEnd(text: string, columns: number): number {
  if (NARROW.test(text.slice(0, columns + 1))) return Math.max(0, Math.min(columns, text.length));
  for (let length = STRETCH; ; length *= 2) {
    const stretch = text.slice(0, length);
    let width = 0;
    let end = 0;
    let next = 0;
    for (const { segment } of GRAPHEMES.segment(stretch)) {
      end = next;
      next += segment.length;
      width += cells(segment);
      if (width > columns) break;
      end = next;
    }
    // The last grapheme of a stretch may continue after it.
    if (stretch.length === text.length || next < stretch.length) return end;
  }
}

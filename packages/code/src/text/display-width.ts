const GRAPHEMES = new Intl.Segmenter(undefined, { granularity: "grapheme" });
// oxlint-disable-next-line no-control-regex -- printable ASCII is the common case
const ASCII = /^[\u0020-\u007e]*$/;
const WIDE =
  /^(?:\p{Emoji_Presentation}|\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul}|[\u3000-\u303e\uff01-\uff60\uffe0-\uffe6]|.*\ufe0f)/u;
const ZERO = /^[\p{Mn}\p{Me}\p{Cf}]/u;

/** Columns that text takes in a terminal. Text without control characters only. */
export function displayWidth(text: string): number {
  if (ASCII.test(text)) return text.length;
  let width = 0;
  for (const { segment } of GRAPHEMES.segment(text)) width += graphemeWidth(segment);
  return width;
}

/** The longest beginning of `text` that fits into `columns`. */
export function fitting(text: string, columns: number): string {
  if (ASCII.test(text)) return text.slice(0, Math.max(0, columns));
  let width = 0;
  let end = 0;
  for (const { segment } of GRAPHEMES.segment(text)) {
    width += graphemeWidth(segment);
    if (width > columns) break;
    end += segment.length;
  }
  return text.slice(0, end);
}

/** `text`, or its beginning with an ellipsis, in at most `columns`. */
export function truncated(text: string, columns: number): string {
  // Every UTF-16 unit takes two columns at most: short text needs no measuring.
  if (text.length * 2 <= columns || displayWidth(text) <= columns) return text;
  return `${fitting(text, columns - 1)}…`;
}

function graphemeWidth(segment: string): number {
  if (ZERO.test(segment)) return 0;
  return WIDE.test(segment) ? 2 : 1;
}

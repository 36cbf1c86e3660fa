import { eastAsianWidth } from "get-east-asian-width";

// Marks that take a cell of their own: the spacing ones, and some that the tables of terminals have as such.
const SPACING_MARK = /^(?:[\p{Spacing_Mark}--[\u1734\u302e\u302f]]|[\u065f\u0f7f\u102b\u102c\u1031\u1033-\u1035\u1038\u103a-\u103e])$/v;
const MARK = /^\p{Mark}$/v;
const INVISIBLE = /^[\p{Default_Ignorable_Code_Point}\p{Control}\p{Format}\p{Surrogate}]$/v;
const EMOJI = /^\p{RGI_Emoji}$/v;

const MAX_KNOWN = 4_096;
const known = new Map<string, number>();

/**
 * Returns the columns of one grapheme in a terminal. The result is that of `visibleWidth` of pi-tui, because its editor
 * shares the screen with our lines; a test compares both.
 */
export function graphemeWidth(grapheme: string): number {
  let width = known.get(grapheme);
  if (width === undefined) {
    width = measuredWidth(grapheme);
    if (known.size >= MAX_KNOWN) known.clear();
    known.set(grapheme, width);
  }
  return width;
}

function measuredWidth(grapheme: string): number {
  const points = [...grapheme];
  if (points.every((point) => SPACING_MARK.test(point))) return points.length;
  // Emoji of one code point are wide in the table of East Asian widths, too.
  if (points.length > 1 && EMOJI.test(grapheme)) return 2;
  const base = points.findIndex((point) => !INVISIBLE.test(point) && !MARK.test(point));
  const first = points[base]?.codePointAt(0);
  if (first === undefined) return 0;
  // Half of a flag is drawn as wide as a flag.
  if (first >= 0x1f1e6 && first <= 0x1f1ff) return 2;
  let width = eastAsianWidth(first);
  let followsMark = false;
  for (const point of points.slice(base + 1)) {
    if (SPACING_MARK.test(point)) {
      width += 1;
      followsMark = false;
    } else if (MARK.test(point)) followsMark = true;
    else if (!INVISIBLE.test(point)) {
      width += joinedWidth(point, followsMark);
      followsMark = false;
    }
  }
  return width;
}

/** Returns the columns that a code point adds to the grapheme that it continues. */
function joinedWidth(point: string, followsMark: boolean): number {
  const code = point.codePointAt(0) ?? 0;
  // A consonant of an Indic conjunct follows a mark; half-width voiced marks have cells of their own.
  if (followsMark || (code >= 0xff00 && code <= 0xffef)) return eastAsianWidth(code);
  // The vowels "am" of Thai and Lao.
  return code === 0x0e33 || code === 0x0eb3 ? 1 : 0;
}

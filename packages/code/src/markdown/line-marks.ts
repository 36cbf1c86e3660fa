/** The opening of fenced code. */
export interface Fence {
  readonly mark: string;
  readonly info: string;
  readonly indent: number;
}

/** The mark before an item of a list. */
export interface ListMark {
  /** The bullet, or the character after the number: items with another one belong to another list. */
  readonly kind: string;
  readonly isOrdered: boolean;
  /** 0 for a bullet. */
  readonly number: number;
  /** The column at which the text of the item begins. */
  readonly offset: number;
  /** True if the item may follow a paragraph without an empty line. */
  readonly interrupts: boolean;
}

export function indentOf(line: string): number {
  return /^ */.exec(line)?.[0].length ?? 0;
}

export function fenceOf(line: string): Fence | undefined {
  const match = /^( {0,3})(`{3,}(?=[^`]*$)|~{3,})(.*)$/.exec(line);
  return match === null ? undefined : { mark: match[2] ?? "", info: match[3]?.trim() ?? "", indent: match[1]?.length ?? 0 };
}

export function closesFence(line: string, { mark }: Fence): boolean {
  const match = /^ {0,3}(`{3,}|~{3,})\s*$/.exec(line);
  return match?.[1] !== undefined && match[1].startsWith(mark);
}

export function listMarkOf(line: string): ListMark | undefined {
  const match = /^( {0,3})([-+*]|(\d{1,9})([.)]))( +|$)(.*)$/.exec(line);
  if (match === null) return undefined;
  const [, before = "", mark = "", digits, delimiter, gap = "", text = ""] = match;
  // Code that is indented within an item begins one space after the mark.
  const space = text === "" || gap.length > 4 ? 1 : gap.length;
  const number = digits === undefined ? 0 : Number(digits);
  return {
    kind: delimiter ?? mark,
    isOrdered: digits !== undefined,
    number,
    offset: before.length + mark.length + space,
    interrupts: text !== "" && number <= 1,
  };
}

export function isHeading(line: string): boolean {
  return /^ {0,3}#{1,6}(?: |$)/.test(line);
}

export function isRule(line: string): boolean {
  return /^ {0,3}(?:(?:- *){3,}|(?:\* *){3,}|(?:_ *){3,})$/.test(line);
}

/** True for a line that makes a heading of the paragraph before it. */
export function isUnderline(line: string): boolean {
  return /^ {0,3}(?:-+|=+) *$/.test(line);
}

export interface HtmlStart {
  readonly until: RegExp | "blank";
  /** True if the block may follow a paragraph without an empty line. */
  readonly interrupts: boolean;
}

const BLOCK_TAGS =
  "address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt|fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link|main|menu|menuitem|meta|nav|noframes|ol|optgroup|option|p|param|search|section|summary|table|tbody|td|tfoot|th|thead|title|tr|track|ul";
const BLOCK_TAG = new RegExp(`^ {0,3}</?(?:${BLOCK_TAGS})(?:[\\s/>]|$)`, "i");

/** The kinds of HTML blocks of CommonMark; `undefined` if none begins here. */
export function startsHtml(line: string): HtmlStart | undefined {
  if (!/^ {0,3}</.test(line)) return undefined;
  if (/^ {0,3}<(?:script|pre|style|textarea)(?:[\s>]|$)/i.test(line))
    return { until: /<\/(?:script|pre|style|textarea)>/i, interrupts: true };
  if (/^ {0,3}<!--/.test(line)) return { until: /-->/, interrupts: true };
  if (/^ {0,3}<\?/.test(line)) return { until: /\?>/, interrupts: true };
  if (/^ {0,3}<!\[CDATA\[/.test(line)) return { until: /\]\]>/, interrupts: true };
  if (/^ {0,3}<![A-Za-z]/.test(line)) return { until: />/, interrupts: true };
  if (BLOCK_TAG.test(line)) return { until: "blank", interrupts: true };
  return /^ {0,3}<\/?[A-Za-z][\w-]*(?:\s[^<>]*)?\/?>\s*$/.test(line) ? { until: "blank", interrupts: false } : undefined;
}

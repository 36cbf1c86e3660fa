/** The part that a text plays; a theme gives each its colours. */
export type Role =
  | "title"
  | "heading"
  | "code"
  | "link"
  | "address"
  | "quote"
  | "bar"
  | "marker"
  | "frame"
  | "fence"
  | "markup"
  | "keyword"
  | "string"
  | "number"
  | "comment"
  | "function"
  | "type"
  | "variable"
  | "attribute"
  | "meta"
  | "added"
  | "removed"
  | "added-word"
  | "removed-word"
  | "faint";

/** The look of a span. Absent fields change nothing. */
export interface Look {
  readonly role?: Role;
  readonly bold?: boolean;
  readonly italic?: boolean;
  readonly underline?: boolean;
  readonly strike?: boolean;
  /** The address that a terminal with hyperlinks opens. */
  readonly href?: string;
}

/** Text of one look, without control characters. */
export interface Span {
  readonly text: string;
  readonly look: Look;
}

/** One line of a screen before it is painted. */
export type Row = readonly Span[];

/** The look of text without a mark. One object, so that neighbours are painted together. */
export const PLAIN: Look = {};

/** The text of a row without its looks. */
export function textOf(row: Row): string {
  return row.map(({ text }) => text).join("");
}

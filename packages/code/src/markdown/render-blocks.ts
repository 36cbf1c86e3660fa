import type { MarkedToken, Token, Tokens } from "marked";
import type { CodeHighlight } from "./highlight-code.ts";
import { type InlineOptions, inlineSpans } from "./inline-spans.ts";
import { isMath } from "./lex-markdown.ts";
import { renderTable } from "./render-table.ts";
import { type Look, PLAIN, type Row, type Span } from "./span.ts";
import { rowWidth, splitLines, wrapSpans } from "./wrap-spans.ts";

export interface BlockOptions extends InlineOptions {
  readonly columns: number;
  readonly highlight: CodeHighlight;
  /** The look of the text around, such as that of a quote. */
  readonly look?: Look;
  /** True within an item of a list, whose blocks are separated only where the source has an empty line. */
  readonly isItem?: boolean;
}

const FAINT: Look = { role: "bar" };
const FENCE: Look = { role: "fence" };
const MARKER: Look = { role: "marker" };
const MIN_COLUMNS = 8;
const MAX_RULE = 40;

/** Blocks of Markdown as rows. Only long words and lines of code are wider than `columns`. */
export function renderBlocks(tokens: readonly Token[], options: BlockOptions): Row[] {
  const rows: Row[] = [];
  let before: string | undefined;
  let isApart = false;
  for (const token of tokens) {
    if (token.type === "space") {
      isApart = true;
      continue;
    }
    if (before !== undefined && (isApart || !(options.isItem === true || isTight(before, token.type)))) rows.push([]);
    rows.push(...renderBlock(token, options));
    before = token.type;
    isApart = token.raw.endsWith("\n\n");
  }
  return rows;
}

/** True if two blocks without an empty line between them are shown so, too. */
export function isTight(before: string, after: string): boolean {
  if (before === "list" || before === "html" || after === "html") return true;
  return after === "list" && (before === "paragraph" || before === "text");
}

function renderBlock(token: Token, options: BlockOptions): Row[] {
  if (isMath(token)) return renderMath(token.text, token.raw, options);
  const { columns, look = PLAIN } = options;
  const known = token as MarkedToken;
  switch (known.type) {
    case "heading":
      return renderHeading(known, options);
    case "paragraph":
      return wrapSpans(inlineSpans(known.tokens, options, look), columns);
    case "list":
      return renderList(known, options);
    case "code":
      return renderCode(known, options);
    case "table":
      return renderTable(known, options);
    case "blockquote": {
      const quoted = renderBlocks(known.tokens, {
        ...options,
        columns: narrowed(columns, 2),
        look: { ...look, role: "quote" },
        isItem: false,
      });
      return quoted.map((row) => [{ text: "│ ", look: FAINT }, ...row]);
    }
    case "hr":
      return [[{ text: "─".repeat(Math.min(columns, MAX_RULE)), look: FAINT }]];
    case "html":
      return wrapSpans([{ text: known.raw.trimEnd(), look: { ...look, role: "markup" } }], columns);
    default:
      return wrapSpans(inlineSpans([known], options, look), columns);
  }
}

function renderHeading({ depth, tokens }: Tokens.Heading, options: BlockOptions): Row[] {
  const look: Look = { ...options.look, role: depth === 1 ? "title" : "heading" };
  const mark: Span[] = options.marks ? [{ text: `${"#".repeat(depth)} `, look }] : [];
  return wrapSpans([...mark, ...inlineSpans(tokens, options, look)], options.columns);
}

export interface ListOptions extends BlockOptions {
  /** The number of the first item, if the list is one of several parts. */
  readonly start?: number | undefined;
}

export function renderList({ items, ordered, start }: Tokens.List, options: ListOptions): Row[] {
  const first = options.start ?? (start === "" ? 1 : start);
  return items.flatMap((item, index) => {
    const task = item.task ? `[${item.checked === true ? "x" : " "}] ` : "";
    const marker: Span = { text: `${ordered ? `${first + index}.` : "-"} ${task}`, look: MARKER };
    const width = marker.text.length;
    const tokens = item.tokens.filter(({ type }) => type !== "checkbox");
    const body = renderBlocks(tokens, { ...options, columns: narrowed(options.columns, width), isItem: true });
    const rows = body.length === 0 ? [[marker]] : body.map((row, at) => [at === 0 ? marker : indent(row, width), ...row].flat());
    return item.loose && index < items.length - 1 ? [...rows, []] : rows;
  });
}

/** Spaces before a row of a list; none before an empty one. */
function indent(row: Row, width: number): Row {
  return row.length === 0 ? [] : [{ text: " ".repeat(width), look: PLAIN }];
}

/** A row before lines of code. */
export function fenceRow(mark: string, info: string): Row {
  return [{ text: `${mark}${info}`, look: FENCE }];
}

function renderCode({ raw, lang = "", text, codeBlockStyle }: Tokens.Code, { highlight }: BlockOptions): Row[] {
  const painter = highlight.painter(lang);
  const lines = text
    .replace(/\n$/, "")
    .split("\n")
    .map((line) => painter.paint(line));
  if (codeBlockStyle === "indented") return lines.map((line) => [{ text: "    ", look: PLAIN }, ...line]);
  const mark = /^ *(`{3,}|~{3,})/.exec(raw)?.[1] ?? "```";
  return [fenceRow(mark, lang), ...(text === "" ? [] : lines), fenceRow(mark, "")];
}

/** A layout in two dimensions cannot be wrapped, so its source is shown if there is too little room. */
function renderMath(text: string, raw: string, { columns, look = PLAIN }: BlockOptions): Row[] {
  const rows = splitLines([{ text, look }]);
  return rows.every((row) => rowWidth(row) <= columns) ? rows : wrapSpans([{ text: raw.trim(), look }], columns);
}

function narrowed(columns: number, width: number): number {
  return Math.max(MIN_COLUMNS, columns - width);
}

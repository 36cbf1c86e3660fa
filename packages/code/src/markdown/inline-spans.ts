import type { MarkedToken, Token, Tokens } from "marked";
import { isMath } from "./lex-markdown.ts";
import { type Look, PLAIN, type Span } from "./span.ts";

export interface InlineOptions {
  /** True if emphasis and code keep their marks. */
  readonly marks: boolean;
  /** True if the terminal knows hyperlinks (OSC 8). */
  readonly hyperlinks: boolean;
}

/** The text of a paragraph with its looks. Line breaks are newlines in the spans. */
export function inlineSpans(tokens: readonly Token[], options: InlineOptions, look: Look = PLAIN): Span[] {
  return tokens.flatMap((token) => (isMath(token) ? [{ text: token.text, look }] : spansOf(token as MarkedToken, options, look)));
}

function spansOf(token: MarkedToken, options: InlineOptions, look: Look): Span[] {
  const nested = (tokens: readonly Token[], change: Look): Span[] => inlineSpans(tokens, options, { ...look, ...change });
  const marked = (mark: string, spans: Span[]): Span[] => (options.marks ? [{ text: mark, look }, ...spans, { text: mark, look }] : spans);
  switch (token.type) {
    case "strong":
      return look.role === "heading" || look.role === "title"
        ? nested(token.tokens, { bold: true })
        : marked("**", nested(token.tokens, { bold: true }));
    case "em":
      return marked("*", nested(token.tokens, { italic: true }));
    case "del":
      return marked("~~", nested(token.tokens, { strike: true }));
    case "codespan":
      return marked(codeMark(token), [{ text: token.text, look: { ...look, role: "code" } }]);
    case "link":
      return linkSpans(token, options, look);
    case "image":
      return [{ text: `[image: ${token.text}] (${addressText(token)})`, look: { ...look, role: "address" } }];
    case "br":
      return [{ text: "\n", look }];
    case "html":
      return /^<br\s*\/?>$/i.test(token.raw) ? [{ text: "\n", look }] : [{ text: token.raw, look: { ...look, role: "markup" } }];
    // The box of a task is part of the mark of its item.
    case "checkbox":
      return [];
    case "text":
      return token.tokens === undefined ? [{ text: token.text, look }] : inlineSpans(token.tokens, options, look);
    case "escape":
      return [{ text: token.text, look }];
    default:
      return "tokens" in token && token.tokens !== undefined
        ? inlineSpans(token.tokens, options, look)
        : [{ text: "text" in token ? token.text : token.raw, look }];
  }
}

/** Backticks that do not occur in the code. */
function codeMark({ raw }: Tokens.Codespan): string {
  return /^`+/.exec(raw)?.[0] ?? "`";
}

function linkSpans(token: Tokens.Link, options: InlineOptions, look: Look): Span[] {
  const { href, text } = token;
  const address = hyperlinkOf(href);
  const linked: Look = { ...look, role: "link", ...(options.hyperlinks && address !== undefined ? { href: address } : {}) };
  const shown = inlineSpans(token.tokens, options, linked);
  if (text === href || `mailto:${text}` === href || `http://${text}` === href) return shown;
  // A text that looks like an address may name another one than it opens.
  const isHidden = linked.href !== undefined && (token.title ?? "") === "" && !/[.:/]/.test(text);
  return isHidden ? shown : [...shown, { text: ` (${addressText(token)})`, look: { ...look, role: "address" } }];
}

function addressText({ href, title }: { readonly href: string; readonly title?: string | null }): string {
  return title === undefined || title === null || title === "" ? href : `${href} "${title}"`;
}

/** An address that a terminal may open, in ASCII; `undefined` for files, relative paths and unknown schemes. */
function hyperlinkOf(href: string): string | undefined {
  if (!/^(?:https?|mailto):/i.test(href) || !URL.canParse(href)) return undefined;
  return new URL(href).href;
}

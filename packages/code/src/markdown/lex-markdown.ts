import { renderLatex } from "@earendil-works/pi-tui/dist/latex.js";
import { Marked, type Token, Tokenizer } from "marked";
import markedCjkFriendly from "marked-cjk-friendly";

/** Mathematics that could be written in Unicode. */
export interface MathToken {
  readonly type: "math" | "math-block";
  readonly raw: string;
  readonly text: string;
}

const CJK_PUNCTUATION = /[\u3000-\u303f\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65]/u;

class MarkdownTokenizer extends Tokenizer {
  /** A bare address ends before the punctuation of Chinese and Japanese, which has no space around it. */
  override url(source: string): ReturnType<Tokenizer["url"]> {
    const end = source.search(CJK_PUNCTUATION);
    return super.url(end < 0 ? source : source.slice(0, end));
  }

  /** A single tilde means "about" or the home folder. */
  override del(source: string, masked: string, previous?: string): ReturnType<Tokenizer["del"]> {
    return source.startsWith("~~") ? super.del(source, masked, previous) : undefined;
  }

  /** A definition of an address may come long after the text that refers to it is final. It is shown as it was written. */
  override def(): undefined {
    return undefined;
  }
}

const marked = new Marked();
marked.setOptions({ tokenizer: new MarkdownTokenizer() });
marked.use({
  tokenizer: { emStrong: markedCjkFriendly().tokenizer?.emStrong },
  extensions: [
    {
      name: "math-block",
      level: "block",
      start: (source) => /^ {0,3}(?:\$\$|\\\[)/m.exec(source)?.index,
      tokenizer: (source) =>
        mathOf("math-block", /^ {0,3}(?:\$\$((?:(?!\n\s*\n)[\s\S])+?)\$\$|\\\[((?:(?!\n\s*\n)[\s\S])+?)\\\])[ \t]*(?:\n|$)/.exec(source)),
    },
    {
      name: "math",
      level: "inline",
      start: (source) => /\$|\\[([]/.exec(source)?.index,
      tokenizer: (source) =>
        mathOf("math", /^(?:\$\$([^\n$]+)\$\$|\\\(([^\n]+?)\\\)|\\\[([^\n]+?)\\\])/.exec(source) ?? dollarMath(source)),
    },
  ],
});

/** The blocks of a Markdown text. */
export function lexMarkdown(text: string): readonly Token[] {
  return marked.lexer(text);
}

export function isMath(token: { readonly type: string }): token is MathToken {
  return token.type === "math" || token.type === "math-block";
}

/** A price or a variable of a shell is no mathematics: this needs a sign of it, and no space or word at the dollars. */
function dollarMath(source: string): RegExpExecArray | null {
  const match = /^\$(?![\s$])([^\n$`]*[^\s$`\\])\$(?![\w{($])/.exec(source);
  return match !== null && /\\[A-Za-z]|[\^_=]/.test(match[1] ?? "") ? match : null;
}

/** Returns nothing for what cannot be written in Unicode, so that it stays as the model wrote it. */
function mathOf(type: MathToken["type"], match: RegExpExecArray | null): MathToken | undefined {
  const source = match?.slice(1).find((group) => group !== undefined);
  if (match === null || source === undefined) return undefined;
  const text = renderLatex(source.trim(), { display: type === "math-block" });
  return text === undefined ? undefined : { type, raw: match[0], text };
}

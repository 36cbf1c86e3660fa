import { renderLatex } from "@earendil-works/pi-tui/dist/latex.js";
import { Marked, type Token, Tokenizer } from "marked";
import markedCjkFriendly from "marked-cjk-friendly";

/** Mathematics that could be written in Unicode. */
export type MathToken = {
  readonly type: "math" | "math-block";
  readonly raw: string;
  readonly text: string;
};

/** Marks of emphasis in a paragraph beyond which none is read. */
const MAX_MARKS = 400;

/** Levels of quotes and lists, and of braces in a formula. */
const MAX_DEPTH = 16;
/** Characters of a formula. */
const MAX_MATH = 2_000;

/** The beginning of an address without brackets. */
const ADDRESS = /^(?:(?:https?|ftp):\/\/|www\.|[\w.+-]{1,64}@)/i;
const CJK_PUNCTUATION = /[\u3000-\u303f\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65]/u;

class MarkdownTokenizer extends Tokenizer {
  private depth = 0;

  override blockquote(source: string): ReturnType<Tokenizer["blockquote"]> {
    return this.nested(() => super.blockquote(source));
  }

  override list(source: string): ReturnType<Tokenizer["list"]> {
    return this.nested(() => super.list(source));
  }

  /** Blocks that are nested deeper are text: the lexer calls itself for each level, which no stack endures for long. */
  private nested<T>(read: () => T): T | undefined {
    if (this.depth >= MAX_DEPTH) return undefined;
    this.depth += 1;
    try {
      return read();
    } finally {
      this.depth -= 1;
    }
  }

  /** A bare address ends before the punctuation of Chinese and Japanese, which has no space around it. */
  override url(source: string): ReturnType<Tokenizer["url"]> {
    // The library looks through the whole word at each of its characters.
    if (!ADDRESS.test(source)) return undefined;
    const word = /^\S+/.exec(source)?.[0] ?? "";
    const end = word.search(CJK_PUNCTUATION);
    return super.url(end < 0 ? source : source.slice(0, end));
  }

  /** A definition of an address may come long after the text that refers to it is final. It is shown as it was written. */
  override def(): undefined {
    return undefined;
  }
}

const marked = new Marked();
marked.setOptions({ tokenizer: new MarkdownTokenizer() });
marked.use(markedCjkFriendly());
marked.use({
  // A tokenizer that returns false leaves the text to the one before it.
  tokenizer: {
    emStrong: (_source, masked) => (isDense(masked) ? undefined : false),
    // A single tilde means "about" or the home folder.
    del: (source, masked) => (source.startsWith("~~") && !isDense(masked) ? false : undefined),
  },
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
      start: mathStart,
      tokenizer: (source) =>
        mathOf("math", /^(?:\$\$([^\n$]+)\$\$|\\\(([^\n]+?)\\\)|\\\[([^\n]+?)\\\])/.exec(source) ?? dollarMath(source)),
    },
  ],
});

/** The place at which a formula may begin. It is asked for again after each token, so it does not try to match one. */
function mathStart(source: string): number | undefined {
  const places = ["$", "\\(", "\\["].map((mark) => source.indexOf(mark)).filter((place) => place >= 0);
  return places.length === 0 ? undefined : Math.min(...places);
}

let lastMasked = "";
let isLastDense = false;

/** True if a paragraph has so many marks of emphasis that matching them, which takes quadratic time, would delay the screen. */
function isDense(masked: string): boolean {
  if (masked !== lastMasked) {
    isLastDense = (masked.match(/\*+|_+|~+/g) ?? []).length > MAX_MARKS;
    lastMasked = masked;
  }
  return isLastDense;
}

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

/** Returns nothing for a formula that cannot be written in Unicode, which therefore stays as the model wrote it. */
function mathOf(type: MathToken["type"], match: RegExpExecArray | null): MathToken | undefined {
  const source = match?.slice(1).find((group) => group !== undefined);
  if (match === null || source === undefined || source.length > MAX_MATH || depthOf(source) > MAX_DEPTH) return undefined;
  const text = renderLatex(source.trim(), { display: type === "math-block" });
  return text === undefined ? undefined : { type, raw: match[0], text };
}

/** The levels of braces in a formula. */
function depthOf(source: string): number {
  let depth = 0;
  let deepest = 0;
  for (const character of source) {
    if (character === "{") deepest = Math.max(deepest, (depth += 1));
    else if (character === "}") depth -= 1;
  }
  return deepest;
}

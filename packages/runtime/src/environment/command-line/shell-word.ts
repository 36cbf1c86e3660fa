import type { SyntaxNode } from "./parse-bash.ts";

/** One word of a command as bash sees it before it expands anything. */
export interface ShellWord {
  /** Quotes taken off; what bash would expand stands as it is written. */
  readonly text: string;
  /** Nothing in it is expanded, so the program gets exactly `text`. */
  readonly literal: boolean;
  /** It holds `$(…)`, backticks or `<(…)`. */
  readonly substitutes: boolean;
  /** It may become any number of words: an expansion outside of quotes. */
  readonly splits: boolean;
  /** It holds `*`, `?` or `[` outside of quotes. */
  readonly globs: boolean;
  /** It begins with `~` outside of quotes. */
  readonly tilde: boolean;
  /** Some of it is quoted, so it is no word of the language. */
  readonly quoted: boolean;
}

interface Part {
  readonly kind: "plain" | "quoted" | "expansion" | "substitution";
  readonly text: string;
  /** Within double quotes: it stays one word. */
  readonly whole?: boolean;
}

const MAX_BRACE_WORDS = 64;
const MAX_BRACE_ATOMS = 200;
const WORD_END = /[\s|&;<>()]/;
const ESCAPED_IN_DOUBLE_QUOTES = '$`"\\\n';
const STARTS_EXPANSION = /[\w({[@*#?$!-]/;
const EXPANSIONS: ReadonlySet<string> = new Set([
  "simple_expansion",
  "expansion",
  "command_substitution",
  "process_substitution",
  "arithmetic_expansion",
]);

/** What within a word bash expands, outermost only, in order. */
export function expansionsOf(node: SyntaxNode): readonly SyntaxNode[] {
  if (EXPANSIONS.has(node.type)) return [node];
  return node.children.flatMap(expansionsOf);
}

/**
 * The words that the text from `start` to `end` becomes: several where braces say so. `undefined` where the quoting rules of bash
 * and the tree don't agree on where the word ends or on what in it is expanded.
 */
export function readWord(
  source: string,
  node: Pick<SyntaxNode, "start" | "end">,
  expansions: readonly SyntaxNode[],
): readonly ShellWord[] | undefined {
  const parts = scanParts(source, node.start, node.end, expansions);
  return parts === undefined ? undefined : expandBraces(parts).map(toWord);
}

/** A word that stands for itself, for commands that are not written as such: `evil` in `env -S evil`. */
export function literalWord(text: string): ShellWord {
  return toWord([{ kind: "quoted", text }]);
}

function scanParts(source: string, start: number, end: number, expansions: readonly SyntaxNode[]): readonly Part[] | undefined {
  if (source[start] === "#") return undefined;
  if (end < source.length && !WORD_END.test(source[end] as string)) {
    // In `…` and "$(…)" a word may end at the closing mark; anything else is part of the same word.
    if (source[end] !== "`") return undefined;
  }
  if (source.startsWith("\\\n", end)) return undefined;
  const parts: Part[] = [];
  let next = 0;
  let at = start;
  let inQuotes = false;
  let quotedText = "";
  const expansionAt = (): SyntaxNode | undefined => {
    while (next < expansions.length && (expansions[next] as SyntaxNode).start < at) next++;
    const found = expansions[next];
    return found?.start === at ? found : undefined;
  };
  while (at < end) {
    const found = expansionAt();
    if (found !== undefined) {
      if (found.end > end) return undefined;
      if (inQuotes) parts.push({ kind: "quoted", text: quotedText });
      quotedText = "";
      const kind = found.type === "command_substitution" || found.type === "process_substitution" ? "substitution" : "expansion";
      parts.push({ kind, text: source.slice(found.start, found.end), whole: inQuotes });
      at = found.end;
      continue;
    }
    const character = source[at] as string;
    const following = source[at + 1];
    if (character === "`") return undefined;
    if (character === "$" && following !== undefined && STARTS_EXPANSION.test(following)) return undefined;
    if (inQuotes) {
      if (character === '"') {
        parts.push({ kind: "quoted", text: quotedText });
        quotedText = "";
        inQuotes = false;
        at++;
      } else if (character === "\\" && following !== undefined && ESCAPED_IN_DOUBLE_QUOTES.includes(following)) {
        if (following !== "\n") quotedText += following;
        at += 2;
      } else {
        quotedText += character;
        at++;
      }
      continue;
    }
    if (character === '"') {
      inQuotes = true;
      at++;
    } else if (character === "'") {
      const close = source.indexOf("'", at + 1);
      if (close < 0 || close >= end) return undefined;
      parts.push({ kind: "quoted", text: source.slice(at + 1, close) });
      at = close + 1;
    } else if (character === "$" && following === "'") {
      const decoded = decodeAnsiC(source, at + 2, end);
      if (decoded === undefined) return undefined;
      parts.push({ kind: "quoted", text: decoded.text });
      at = decoded.end;
    } else if (character === "$" && following === '"') {
      at++;
    } else if (character === "\\") {
      if (following === undefined || at + 1 >= end) return undefined;
      if (following !== "\n") parts.push({ kind: "quoted", text: following });
      at += 2;
    } else if (WORD_END.test(character)) {
      return undefined;
    } else {
      let to = at + 1;
      while (to < end && !/[\s|&;<>()'"`$\\]/.test(source[to] as string)) to++;
      parts.push({ kind: "plain", text: source.slice(at, to) });
      at = to;
    }
  }
  return inQuotes ? undefined : parts;
}

const SIMPLE_ESCAPES: { readonly [escape: string]: string } = {
  "a": "\u0007",
  "b": "\b",
  "e": "\u001b",
  "E": "\u001b",
  "f": "\f",
  "n": "\n",
  "r": "\r",
  "t": "\t",
  "v": "\v",
  "\\": "\\",
  "'": "'",
  '"': '"',
  "?": "?",
};
const NUMBERED_ESCAPE = /\\(?:x([0-9a-fA-F]{1,2})|([0-7]{1,3})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8}))/y;

/** The text of `$'…'` from after its opening quote. `undefined` for what depends on the character set, or ends the word in C. */
function decodeAnsiC(source: string, from: number, limit: number): { readonly text: string; readonly end: number } | undefined {
  let text = "";
  for (let at = from; at < limit;) {
    const character = source[at] as string;
    if (character === "'") return { text, end: at + 1 };
    if (character !== "\\") {
      text += character;
      at++;
      continue;
    }
    const simple = SIMPLE_ESCAPES[source[at + 1] ?? ""];
    if (simple !== undefined) {
      text += simple;
      at += 2;
      continue;
    }
    NUMBERED_ESCAPE.lastIndex = at;
    const numbered = NUMBERED_ESCAPE.exec(source);
    if (numbered === null) return undefined;
    const [whole, hex, octal, short, long] = numbered;
    const code = octal === undefined ? Number.parseInt(hex ?? short ?? long ?? "", 16) : Number.parseInt(octal, 8);
    if (code === 0 || code > 126) return undefined;
    text += String.fromCodePoint(code);
    at += whole.length;
  }
  return undefined;
}

function toWord(parts: readonly Part[]): ShellWord {
  const plain = parts.filter(({ kind }) => kind === "plain");
  const expanded = parts.filter(({ kind }) => kind === "expansion" || kind === "substitution");
  return {
    text: parts.map(({ text }) => text).join(""),
    literal: expanded.length === 0,
    substitutes: parts.some(({ kind }) => kind === "substitution"),
    splits: expanded.some(({ whole, text }) => whole !== true || /^\$\{?[@*!]|[[][@*]/.test(text)),
    globs: plain.some(({ text }) => /[*?[]/.test(text)) || hasSequence(parts),
    tilde: parts[0]?.kind === "plain" && parts[0].text.startsWith("~"),
    quoted: parts.length !== 1 || plain.length !== 1,
  };
}

/** `{1..9}` makes words too; which ones is left open, as with a glob. */
function hasSequence(parts: readonly Part[]): boolean {
  const plain = parts.map(({ kind, text }) => (kind === "plain" ? text : "_")).join("");
  return plain.includes("{") && plain.includes("}") && (plain.includes(",") || plain.includes(".."));
}

type Atom = Part & { readonly mark?: "{" | "}" | "," };

/** `{a,b}` outside of quotes, as bash expands it; a word with more alternatives than anybody writes stays as it is. */
function expandBraces(parts: readonly Part[]): readonly (readonly Part[])[] {
  if (!parts.some(({ kind, text }) => kind === "plain" && text.includes("{"))) return [parts];
  const atoms = parts.flatMap((part): readonly Atom[] =>
    part.kind !== "plain"
      ? [part]
      : part.text
          .split(/([{},])/)
          .filter((text) => text !== "")
          .map((text) => (/^[{},]$/.test(text) ? { kind: "plain", text, mark: text as "{" | "}" | "," } : { kind: "plain", text })),
  );
  if (atoms.length > MAX_BRACE_ATOMS) return [parts];
  const done: (readonly Atom[])[] = [];
  const pending: (readonly Atom[])[] = [atoms];
  for (let word = pending.pop(); word !== undefined; word = pending.pop()) {
    const group = firstGroup(word);
    if (group === undefined) done.push(word);
    else
      for (const option of group.options.toReversed()) pending.push([...word.slice(0, group.start), ...option, ...word.slice(group.end)]);
    if (done.length + pending.length > MAX_BRACE_WORDS) return [parts];
  }
  // Without its braces an alternative may be empty: then there is no word.
  return done.filter((word) => word.length > 0).map(joinPlain);
}

function firstGroup(atoms: readonly Atom[]): { start: number; end: number; options: (readonly Atom[])[] } | undefined {
  for (let start = 0; start < atoms.length; start++) {
    if (atoms[start]?.mark !== "{") continue;
    const options: (readonly Atom[])[] = [];
    let depth = 0;
    let from = start + 1;
    for (let at = start; at < atoms.length; at++) {
      const { mark } = atoms[at] as Atom;
      if (mark === "{") depth++;
      else if (mark === "," && depth === 1) {
        options.push(atoms.slice(from, at));
        from = at + 1;
      } else if (mark === "}" && --depth === 0) {
        if (options.length === 0) break;
        options.push(atoms.slice(from, at));
        return { start, end: at + 1, options };
      }
    }
  }
  return undefined;
}

function joinPlain(atoms: readonly Atom[]): readonly Part[] {
  const parts: Part[] = [];
  for (const { kind, text, whole } of atoms) {
    const last = parts.at(-1);
    if (kind === "plain" && last?.kind === "plain") parts[parts.length - 1] = { kind, text: last.text + text };
    else parts.push({ kind, text, ...(whole !== undefined && { whole }) });
  }
  return parts;
}

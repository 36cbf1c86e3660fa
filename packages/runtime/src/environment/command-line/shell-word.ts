import type { WordPart } from "./syntax/syntax-tree.ts";

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
  /** It is a pattern that matches a file whose name begins with a dash. */
  readonly dashed?: boolean;
  /** The text of the line that it replaces; empty for a word that a program adds. */
  readonly written?: string;
  /** True if it is the file of `<(…)`, whose commands are read for themselves. */
  readonly isProcess?: boolean;
  /** It is each file in a folder and below of which the name matches one of these patterns, if there are any; links to folders are followed or not. */
  readonly below?: { readonly folder: string; readonly only?: readonly string[]; readonly follows: "files" | "all" };
}

const MAX_BRACE_WORDS = 64;
const MAX_BRACE_ATOMS = 200;

/** The words that a word becomes: several if it holds braces with alternatives. */
export function shellWords(parts: readonly WordPart[]): readonly ShellWord[] {
  return expandBraces(parts).flatMap(expandSequence).map(toWord);
}

/** A word that stands for itself, for commands that are not written as such: `evil` in `env -S evil`. */
export function literalWord(text: string): ShellWord {
  return toWord([{ kind: "quoted", text }]);
}

function toWord(parts: readonly WordPart[]): ShellWord {
  const plain = parts.filter(({ kind }) => kind === "plain");
  const expanded = parts.filter(({ kind }) => kind === "expansion" || kind === "substitution");
  return {
    text: parts.map(({ text }) => text).join(""),
    literal: expanded.length === 0 && !hasSequence(parts),
    substitutes: parts.some(({ kind }) => kind === "substitution"),
    splits: hasSequence(parts) || expanded.some(({ whole, text }) => whole !== true || /^\$\{?[@*!]|[[][@*]/.test(text)),
    globs: plain.some(({ text }) => /[*?]|\[./s.test(text) || (text === "[" && parts.length > 1)),
    tilde: parts[0]?.kind === "plain" && parts[0].text.startsWith("~"),
    quoted: parts.length !== 1 || plain.length !== 1,
    ...(parts.length === 1 && parts[0]?.kind === "substitution" && parts[0].text.startsWith("<(") && { isProcess: true }),
  };
}

/** The words that `{1..9}` in a word makes, if it is the only sequence and they are not too many. */
function expandSequence(parts: readonly WordPart[]): readonly (readonly WordPart[])[] {
  const at = parts.findIndex(({ kind, text }) => kind === "plain" && SEQUENCE.test(text));
  const [, before = "", from = "", to = "", after = ""] = SEQUENCE.exec(parts[at]?.text ?? "") ?? [];
  const [first, last] = [Number(from), Number(to)];
  if (at < 0 || Math.abs(last - first) >= MAX_BRACE_WORDS || hasPadding(from) || hasPadding(to)) return [parts];
  const step = first <= last ? 1 : -1;
  const count = Math.abs(last - first) + 1;
  return Array.from({ length: count }, (_, index): readonly WordPart[] => [
    ...parts.slice(0, at),
    { kind: "plain", text: `${before}${first + step * index}${after}` },
    ...parts.slice(at + 1),
  ]);
}
const SEQUENCE = /^([^{}]*)\{(-?\d{1,9})\.\.(-?\d{1,9})\}([^{}]*)$/;

/** Zeros at the beginning have bash make all numbers equally long. */
function hasPadding(number: string): boolean {
  return /^-?0\d/.test(number);
}

/** Other braces may make any words. */
function hasSequence(parts: readonly WordPart[]): boolean {
  const plain = parts.map(({ kind, text }) => (kind === "plain" ? text : "_")).join("");
  return plain.includes("{") && plain.includes("}") && (plain.includes(",") || plain.includes(".."));
}

type Atom = WordPart & { readonly mark?: "{" | "}" | "," };

/** `{a,b}` outside of quotes, as bash expands it; a word with more alternatives than anybody writes stays as it is. */
function expandBraces(parts: readonly WordPart[]): readonly (readonly WordPart[])[] {
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

function joinPlain(atoms: readonly Atom[]): readonly WordPart[] {
  const parts: WordPart[] = [];
  for (const { kind, text, whole } of atoms) {
    const last = parts.at(-1);
    if (kind === "plain" && last?.kind === "plain") parts[parts.length - 1] = { kind, text: last.text + text };
    else parts.push({ kind, text, ...(whole !== undefined && { whole }) });
  }
  return parts;
}

import { DEFAULT_REACH, LOOK_BEHIND, type SecretShape } from "./secret-shape.ts";
import { spellingsOf } from "./spellings.ts";

/** A value that must not be seen, and what is said in its place. */
export interface KnownSecret {
  readonly kind: string;
  readonly value: string;
}

/** A part of a text, from the first character to behind the last. */
export interface FoundSecret {
  readonly kind: string;
  readonly start: number;
  readonly end: number;
  /** It is one of the known values, rather than something that looks like a secret. */
  readonly isKnown: boolean;
}

/** Says where secrets stand that begin at one place. `undefined`: it takes more text to tell. */
interface Matcher {
  readonly begins: readonly string[] | undefined;
  match(text: string, at: number, isWhole: boolean): FoundSecret | "none" | undefined;
}

/**
 * Looks for secrets at one place of a text after another. What it finds at a place depends on nothing but the {@link LOOK_BEHIND}
 * characters before and a bounded number behind it, so that a text in pieces is judged like the whole.
 */
export class SecretFinder {
  readonly #byBeginning = new Map<string, (readonly [begins: string, matcher: Matcher])[]>();
  readonly #everywhere: Matcher[] = [];
  readonly #beginnings: RegExp | undefined;
  readonly #longestBeginning: number;

  constructor(known: readonly KnownSecret[], shapes: readonly SecretShape[]) {
    const matchers = [...known.flatMap(({ kind, value }) => spellingsOf(value).map((text) => exactly(kind, text))), ...shapes.map(shaped)];
    const beginnings = new Set<string>();
    for (const matcher of matchers) {
      if (matcher.begins === undefined) this.#everywhere.push(matcher);
      for (const begins of matcher.begins ?? []) {
        beginnings.add(begins.toLowerCase());
        const first = folded(begins, 0);
        const same = this.#byBeginning.get(first);
        if (same === undefined) this.#byBeginning.set(first, [[begins, matcher]]);
        else same.push([begins, matcher]);
      }
    }
    this.#longestBeginning = Math.max(0, ...[...beginnings].map((text) => text.length));
    if (beginnings.size > 0) this.#beginnings = new RegExp([...beginnings].map(escaped).join("|"), "gi");
  }

  /**
   * What begins in the text from a place on, in the order of beginnings, and up to where that is certain: all of the text when it is
   * whole, else up to where it takes more to tell.
   */
  find(text: string, from: number, isWhole: boolean): { readonly found: readonly FoundSecret[]; readonly upTo: number } {
    const found: FoundSecret[] = [];
    for (const at of this.#candidates(text, from, isWhole)) {
      const here: FoundSecret[] = [];
      for (const matcher of this.#matchersAt(text, at)) {
        const match = matcher.match(text, at, isWhole);
        if (match === undefined) return { found, upTo: at };
        if (match !== "none") here.push(match);
      }
      found.push(...here);
    }
    return { found, upTo: text.length };
  }

  /** Places where a secret may begin; also where the text ends within a beginning. */
  *#candidates(text: string, from: number, isWhole: boolean): Generator<number> {
    for (let at = from; at < text.length; at++) {
      if (this.#everywhere.length === 0) at = Math.min(this.#nextBeginning(text, at), isWhole ? text.length : this.#cutBeginning(text, at));
      if (at < text.length) yield at;
    }
  }

  #nextBeginning(text: string, from: number): number {
    if (this.#beginnings === undefined) return text.length;
    this.#beginnings.lastIndex = from;
    return this.#beginnings.exec(text)?.index ?? text.length;
  }

  #matchersAt(text: string, at: number): readonly Matcher[] {
    const same = this.#byBeginning.get(folded(text, at)) ?? [];
    return [...this.#everywhere, ...new Set(same.filter(([begins]) => startsFolded(text, at, begins)).map(([, matcher]) => matcher))];
  }

  /** The first place from which on the text is the beginning of a beginning. */
  #cutBeginning(text: string, from: number): number {
    for (let at = Math.max(from, text.length - this.#longestBeginning + 1); at < text.length; at++) {
      const rest = text.length - at;
      const same = this.#byBeginning.get(folded(text, at)) ?? [];
      if (same.some(([begins]) => begins.length > rest && startsFolded(text, at, begins))) return at;
    }
    return text.length;
  }
}

/** Whether what there is of the text from a place on is what something begins with, in upper or lower case. */
function startsFolded(text: string, at: number, begins: string): boolean {
  const length = Math.min(begins.length, text.length - at);
  for (let index = 0; index < length; index++) if (folded(text, at + index) !== folded(begins, index)) return false;
  return true;
}

function folded(text: string, at: number): string {
  return text.charAt(at).toLowerCase();
}

/** A known value is looked for by its beginning; a long one would make the search for beginnings slow. */
const KNOWN_BEGINNING = 12;

function exactly(kind: string, value: string): Matcher {
  return {
    begins: [value.slice(0, KNOWN_BEGINNING)],
    match(text, at, isWhole) {
      if (text.startsWith(value, at)) return { kind, start: at, end: at + value.length, isKnown: true };
      const isCut = !isWhole && at + value.length > text.length && value.startsWith(text.slice(at));
      return isCut ? undefined : "none";
    },
  };
}

function shaped({ kind, begins, pattern, reach = DEFAULT_REACH, isSecret = () => true }: SecretShape): Matcher {
  const sticky = new RegExp(pattern.source, `${pattern.flags.replace(/[gyd]/g, "")}yd`);
  return {
    begins,
    match(text, at, isWhole) {
      if (!isWhole && at + reach > text.length) return undefined;
      const before = Math.min(at, LOOK_BEHIND);
      sticky.lastIndex = before;
      const shown = text.slice(at - before, at + reach);
      const { indices } = sticky.exec(shown) ?? {};
      const [start, end] = indices?.groups?.["secret"] ?? indices?.[0] ?? [0, 0];
      // Nothing is taken out that a pattern looked back at: it may have been given out.
      if (start >= end || start < before || !isSecret(shown.slice(start, end))) return "none";
      return { kind, start: at + start - before, end: at + end - before, isKnown: false };
    },
  };
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}

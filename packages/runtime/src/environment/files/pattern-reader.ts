import { VfsError } from "@keelson/protocol";
import { type PatternPart, range, sequence, set } from "./pattern-part.ts";
import { STRAY, WORD } from "./text-alphabet.ts";
import { unsupported } from "./vfs-failures.ts";

/** What stands in a class: a part of a class of JavaScript, and of one of ripgrep. */
interface ClassPart {
  readonly script: string;
  readonly rust: string;
}

// The letters of classes, with what each means in Unicode.
const SETS: { readonly [letter: string]: string } = {
  d: "\\p{Nd}",
  w: WORD,
  s: "\\p{White_Space}",
};
const CONTROLS: { readonly [letter: string]: number } = { t: 9, n: 10, v: 11, f: 12, r: 13 };
const CATEGORIES = /^\{(?:L[ulmto]?|M[nce]?|N[dlo]?|P[cdseifo]?|S[mcko]?|Z[slp]?)\}/;
const MAX_REPEAT = 1000;
const MAX_DEPTH = 100;

/** Reads a pattern; what is not known alike to ripgrep is refused, with the reason. No set holds a stray byte, as nothing matches one in ripgrep. */
export class PatternReader {
  readonly #pattern: string;
  readonly #characters: readonly string[];
  readonly #multiline: boolean;
  #at = 0;

  constructor(pattern: string, multiline: boolean) {
    this.#pattern = pattern;
    this.#characters = [...pattern];
    this.#multiline = multiline;
  }

  readText(): PatternPart {
    return sequence(this.#characters.map((character) => this.#literal(character)));
  }

  readPattern(): PatternPart {
    const whole = this.#alternatives(0);
    if (this.#at < this.#characters.length) throw this.#invalid("a ) closes nothing");
    return whole;
  }

  /** Too long once its repetitions are written out. */
  tooLong(): VfsError {
    return this.#refused("its repetitions, written out, are too long to search for. Repeat less often.");
  }

  #alternatives(depth: number): PatternPart {
    if (depth > MAX_DEPTH) throw this.#refused(`groups are nested more than ${MAX_DEPTH} deep.`);
    const options: PatternPart[][] = [[]];
    for (let next = this.#peek(); next !== undefined && next !== ")"; next = this.#peek()) {
      if (next === "|") {
        this.#at++;
        options.push([]);
      } else options.at(-1)?.push(this.#term(depth));
    }
    const [only, ...others] = options.map(sequence);
    if (only === undefined || others.length === 0) return only ?? sequence([]);
    const all = [only, ...others];
    return { node: { type: "choice", options: all.map(({ node }) => node) }, rust: all.map(({ rust }) => rust).join("|") };
  }

  #term(depth: number): PatternPart {
    const character = this.#take();
    const assertion = this.#assertion(character);
    if (assertion !== undefined) {
      if (this.#isQuantifier()) throw this.#refused("it repeats a place (^, $, \\b or \\B), which is no character.");
      return assertion;
    }
    const atom = this.#atom(character, depth);
    const quantifier = this.#quantifier();
    if (quantifier === undefined) return atom;
    if (this.#isQuantifier()) throw this.#refused("it repeats a repetition. Put the inner one into a group, as in (?:a+)*.");
    const { rust, ...times } = quantifier;
    return { node: { type: "repeat", part: atom.node, ...times }, rust: atom.rust + rust };
  }

  #assertion(character: string): PatternPart | undefined {
    // A line ends before \r\n too, and what follows may be another place there. ripgrep takes more for ends of lines, such as a lone \r: it
    // only tells which files to read.
    if (character === "^") return { node: { type: "place", place: "start" }, rust: "^" };
    if (character === "$") return { node: { type: "place", place: "end" }, rust: "(?:(?R:$)|\\r?$)" };
    if (character !== "\\" || (this.#peek() !== "b" && this.#peek() !== "B")) return undefined;
    if (this.#take() === "b") {
      if (this.#peek() === "{") throw this.#refused("\\b{…} is known to ripgrep only.");
      return { node: { type: "place", place: "border" }, rust: "\\b" };
    }
    // Beside a stray byte ripgrep does not know whether there is a word.
    return { node: { type: "place", place: "no-border" }, rust: "(?:\\B|(?-u:\\B))" };
  }

  #atom(character: string, depth: number): PatternPart {
    switch (character) {
      case "(":
        return this.#group(depth);
      case "[":
        return this.#class();
      case ".":
        return this.#multiline ? set(`[^${STRAY}]`, "(?s:.)") : set(`[^\\n${STRAY}]`, ".");
      case "\\":
        return this.#escape();
      case "*":
      case "+":
      case "?":
        throw this.#invalid(`there is nothing before ${character} to repeat`);
      case "{":
        throw this.#refused("a { that repeats nothing is text in some engines. Write \\{ for the character.");
      default:
        return this.#literal(character);
    }
  }

  #group(depth: number): PatternPart {
    if (this.#peek() === "?") {
      this.#at++;
      const kind = this.#take("a group is never closed");
      if (kind === "=" || kind === "!" || (kind === "<" && /[=!]/.test(this.#peek() ?? "")))
        throw this.#refused("ripgrep has no lookaround.");
      if (kind !== ":")
        throw this.#refused("named groups and flags in a pattern differ between engines. Use (?:…), or the options of the search.");
    }
    const inner = this.#alternatives(depth + 1);
    if (this.#take("a ( is never closed") !== ")") throw this.#invalid("a ( is never closed");
    return { node: inner.node, rust: `(?:${inner.rust})` };
  }

  #quantifier(): { readonly least: number; readonly most: number; readonly lazy: boolean; readonly rust: string } | undefined {
    const next = this.#peek();
    let least = next === "+" ? 1 : 0;
    let most = next === "?" ? 1 : Number.POSITIVE_INFINITY;
    let rust = "";
    if (next === "*" || next === "+" || next === "?") rust = this.#take();
    else if (next === "{") {
      const [whole, from, , to] = /^\{(\d+)(,(\d*))?\}/.exec(this.#characters.slice(this.#at, this.#at + 12).join("")) ?? [];
      if (whole === undefined) throw this.#refused("a { that repeats nothing is text in some engines. Write \\{ for the character.");
      least = Number(from);
      if (to === undefined) most = least;
      else if (to !== "") most = Number(to);
      if (Math.max(least, Number(to ?? 0)) > MAX_REPEAT) throw this.#refused(`it repeats more than ${MAX_REPEAT} times.`);
      if (most < least) throw this.#invalid(`${whole} has its numbers in the wrong order`);
      this.#at += whole.length;
      rust = whole;
    } else return undefined;
    const lazy = this.#peek() === "?";
    return { least, most, lazy, rust: lazy ? rust + this.#take() : rust };
  }

  #isQuantifier(): boolean {
    return /^[*+?{]$/.test(this.#peek() ?? "");
  }

  #class(): PatternPart {
    const negated = this.#peek() === "^";
    if (negated) this.#at++;
    const items: ClassPart[] = [];
    for (let first = true; ; first = false) {
      const character = this.#take("a [ is never closed");
      if (character === "]") {
        if (first) throw this.#refused("a ] right after [ is an empty class in some engines. Write \\] for the character.");
        break;
      }
      items.push(this.#classItem(character, negated, first));
    }
    const [script, rust] = [items.map((item) => item.script).join(""), items.map((item) => item.rust).join("")];
    return negated ? set(`[^${script}${STRAY}]`, `[^${rust}]`) : set(`[[${script}]--${STRAY}]`, `[${rust}]`);
  }

  #classItem(character: string, negated: boolean, first: boolean): ClassPart {
    const start = this.#classCharacter(character);
    if (typeof start !== "number") return start;
    if (character === "-" && !first && this.#peek() !== "]")
      throw this.#refused("a - in the middle of [ ] differs between engines. Write \\-.");
    if (!(this.#peek() === "-" && this.#characters[this.#at + 1] !== "]")) return this.#member(start, start, negated);
    this.#at++;
    const end = this.#classCharacter(this.#take("a [ is never closed"));
    if (typeof end !== "number") throw this.#refused("a range in [ ] ends in a class.");
    if (end < start) throw this.#invalid("a range in [ ] runs backwards");
    return this.#member(start, end, negated);
  }

  #member(start: number, end: number, negated: boolean): ClassPart {
    if (start <= 10 && end >= 10 && !negated && !this.#multiline && start !== 9) throw this.#lineEnd();
    return { script: range(start, end, "\\u"), rust: range(start, end, "\\x") };
  }

  /** A code point, or a set of them. */
  #classCharacter(character: string): number | ClassPart {
    if (character === "[")
      throw this.#refused("a [ within [ ] differs between engines. Write \\[ for the character; [:names:] are ripgrep's alone.");
    if (/^[&~-]$/.test(character) && this.#peek() === character)
      throw this.#refused(`${character}${character} within [ ] differs between engines. Write \\${character}.`);
    if (character !== "\\") return this.#codePoint(character);
    const letter = this.#take("it ends with a backslash");
    return this.#set(letter) ?? this.#escapedCodePoint(letter);
  }

  #escape(): PatternPart {
    const letter = this.#take("it ends with a backslash");
    const known = this.#set(letter);
    if (known !== undefined) return set(`[${known.script}--${STRAY}]`, known.rust);
    return this.#literal(String.fromCodePoint(this.#escapedCodePoint(letter)));
  }

  #set(letter: string): ClassPart | undefined {
    if (letter === "p" || letter === "P") {
      const [name] = CATEGORIES.exec(this.#characters.slice(this.#at, this.#at + 4).join("")) ?? [];
      if (name === undefined) throw this.#refused(`of \\${letter}{…} only general categories are known alike, as in \\p{Lu}.`);
      this.#at += name.length;
      return { script: `\\${letter}${name}`, rust: `\\${letter}${name}` };
    }
    const script = SETS[letter.toLowerCase()];
    if (script === undefined) return undefined;
    return { script: letter === letter.toLowerCase() ? script : `[^${script}]`, rust: `\\${letter}` };
  }

  #escapedCodePoint(letter: string): number {
    const control = CONTROLS[letter];
    if (control !== undefined) return control;
    if (letter === "x" || letter === "u") return this.#hexadecimal(letter);
    if (/^[\x20-\x2f\x3a-\x3b\x3d\x3f-\x40\x5b-\x60\x7b-\x7e]$/.test(letter)) return letter.codePointAt(0) as number;
    if (/^[0-9k]$/.test(letter)) throw this.#refused("ripgrep has no back references.");
    throw this.#refused(`\\${letter} is not read alike by all engines.`);
  }

  #hexadecimal(letter: string): number {
    const rest = this.#characters.slice(this.#at, this.#at + 8).join("");
    const [whole, digits] =
      (letter === "x" ? /^(?:([0-9A-Fa-f]{2})|\{([0-9A-Fa-f]{1,6})\})/ : /^(?:([0-9A-Fa-f]{4})|\{([0-9A-Fa-f]{1,6})\})/)
        .exec(rest)
        ?.filter((part) => part !== undefined) ?? [];
    if (whole === undefined || digits === undefined) throw this.#invalid(`\\${letter} needs hexadecimal digits`);
    this.#at += whole.length;
    const value = Number.parseInt(digits, 16);
    if (value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff)) throw this.#invalid(`\\${letter}${whole} is no character`);
    return value;
  }

  #literal(character: string): PatternPart {
    const point = this.#codePoint(character);
    if (point === 10 && !this.#multiline) throw this.#lineEnd();
    return { node: { type: "set", script: `[${range(point, point, "\\u")}]`, literal: character }, rust: range(point, point, "\\x") };
  }

  #codePoint(character: string): number {
    const point = character.codePointAt(0) as number;
    if (point >= 0xd800 && point <= 0xdfff) throw this.#invalid("it holds half a character (a lone surrogate)");
    return point;
  }

  #peek(): string | undefined {
    return this.#characters[this.#at];
  }

  #take(problem = "it ends too early"): string {
    const character = this.#characters[this.#at++];
    if (character === undefined) throw this.#invalid(problem);
    return character;
  }

  #invalid(what: string): VfsError {
    return new VfsError({
      kind: "other",
      message: `The search pattern ${this.#pattern} is not a valid regular expression: ${what}. To search for the text as it stands, set fixedString.`,
    });
  }

  #refused(reason: string): VfsError {
    return unsupported(
      "grep",
      `The search pattern ${this.#pattern} is not searched for: ${reason} To search for the text as it stands, set fixedString.`,
    );
  }

  #lineEnd(): VfsError {
    return unsupported(
      "grep",
      `The search pattern ${JSON.stringify(this.#pattern)} holds a line end, which no single line does. Set multiline.`,
    );
  }
}

import { VfsError } from "@keelson/protocol";
import { unsupported } from "./vfs-failures.ts";

/** A pattern for two engines. What matches a line for `expression` matches it for ripgrep too; `expression` decides. */
export interface SearchPattern {
  readonly expression: RegExp;
  /** In the syntax of ripgrep. */
  readonly ripgrep: string;
}

export interface PatternOptions {
  readonly fixedString?: boolean | undefined;
  readonly caseInsensitive?: boolean | undefined;
  readonly multiline?: boolean | undefined;
}

// Bytes that are no UTF-8 are lone surrogates in decoded text. Nothing matches them, as nothing does in ripgrep.
const NO_CHARACTER = "\\p{Cs}";
const WORD = "[\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\p{Join_Control}]";
const WORD_BORDER = `(?:(?<=${WORD})(?!${WORD})|(?<!${WORD})(?=${WORD}))`;
// Beside such a byte ripgrep does not know whether there is a word.
const NO_WORD_BORDER = `(?<!${NO_CHARACTER})(?!${NO_CHARACTER})(?:(?<=${WORD})(?=${WORD})|(?<!${WORD})(?!${WORD}))`;
// The letters of classes, with what each means in Unicode.
const SETS: { readonly [letter: string]: string } = { d: "\\p{Nd}", w: WORD, s: "\\p{White_Space}" };
const CONTROLS: { readonly [letter: string]: number } = { t: 9, n: 10, v: 11, f: 12, r: 13 };
const CATEGORIES = /^\{(?:L[ulmto]?|M[nce]?|N[dlo]?|P[cdseifo]?|S[mcko]?|Z[slp]?)\}/;
const MAX_REPEAT = 1000;
const MAX_DEPTH = 100;

/**
 * Compiles a pattern in the language that JavaScript and ripgrep share, with the meanings of ripgrep: literals, `.`,
 * `^`, `$`, `\b`, `\B`, `|`, groups, `* + ? {n,m}` and their lazy forms, classes of characters, ranges and `\d \w \s`
 * (all of Unicode), `\p{…}` with a general category, `\t \n \r \f \v \xHH \x{…} \uHHHH \u{…}`. A pattern in a language of one of
 * them alone is refused as `unsupported`, one in neither as `other`.
 */
export function compileSearchPattern(pattern: string, options: PatternOptions): SearchPattern {
  const { fixedString = false, caseInsensitive = false, multiline = false } = options;
  const reader = new PatternReader(pattern, multiline);
  const { script, rust } = fixedString ? reader.readText() : reader.readPattern();
  return {
    expression: new RegExp(script, `v${multiline ? "g" : ""}${caseInsensitive ? "i" : ""}`),
    ripgrep: caseInsensitive ? `(?i:${rust})` : rust,
  };
}

/** One part of a pattern, for JavaScript and for ripgrep. */
interface Part {
  readonly script: string;
  readonly rust: string;
}

class PatternReader {
  readonly #pattern: string;
  readonly #characters: readonly string[];
  readonly #multiline: boolean;
  #at = 0;

  constructor(pattern: string, multiline: boolean) {
    this.#pattern = pattern;
    this.#characters = [...pattern];
    this.#multiline = multiline;
  }

  readText(): Part {
    return join(this.#characters.map((character) => this.#literal(character)));
  }

  readPattern(): Part {
    const whole = this.#alternatives(0);
    if (this.#at < this.#characters.length) throw this.#invalid("a ) closes nothing");
    return whole;
  }

  #alternatives(depth: number): Part {
    if (depth > MAX_DEPTH) throw this.#refused(`groups are nested more than ${MAX_DEPTH} deep.`);
    const parts: Part[] = [];
    for (let next = this.#peek(); next !== undefined && next !== ")"; next = this.#peek()) {
      if (next === "|") {
        this.#at++;
        parts.push({ script: "|", rust: "|" });
      } else parts.push(this.#term(depth));
    }
    return join(parts);
  }

  #term(depth: number): Part {
    const character = this.#take();
    const assertion = this.#assertion(character);
    if (assertion !== undefined) {
      if (this.#isQuantifier()) throw this.#refused("it repeats a place (^, $, \\b or \\B), which is no character.");
      return assertion;
    }
    const atom = this.#atom(character, depth);
    const quantifier = this.#quantifier();
    if (quantifier !== "" && this.#isQuantifier())
      throw this.#refused("it repeats a repetition. Put the inner one into a group, as in (?:a+)*.");
    return { script: atom.script + quantifier, rust: atom.rust + quantifier };
  }

  #assertion(character: string): Part | undefined {
    // A line ends before \r\n too. ripgrep gets the \r as part of the match, of which nothing is told but the start.
    if (character === "^") return { script: this.#multiline ? "(?<=^|\\n)" : "^", rust: "^" };
    if (character === "$") return { script: this.#multiline ? "(?=\\r?(?:\\n|$))" : "$", rust: "(?:\\r?$)" };
    if (character !== "\\" || (this.#peek() !== "b" && this.#peek() !== "B")) return undefined;
    if (this.#take() === "b") {
      if (this.#peek() === "{") throw this.#refused("\\b{…} is known to ripgrep only.");
      return { script: WORD_BORDER, rust: "\\b" };
    }
    return { script: NO_WORD_BORDER, rust: "(?:\\B|(?-u:\\B))" };
  }

  #atom(character: string, depth: number): Part {
    switch (character) {
      case "(":
        return this.#group(depth);
      case "[":
        return this.#class();
      case ".":
        return this.#multiline ? { script: `[^${NO_CHARACTER}]`, rust: "(?s:.)" } : { script: `[^\\n${NO_CHARACTER}]`, rust: "." };
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

  #group(depth: number): Part {
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
    return { script: `(?:${inner.script})`, rust: `(?:${inner.rust})` };
  }

  #quantifier(): string {
    let quantifier = "";
    const next = this.#peek();
    if (next === "*" || next === "+" || next === "?") quantifier = this.#take();
    else if (next === "{") {
      const [whole, least, , most] = /^\{(\d+)(,(\d*))?\}/.exec(this.#characters.slice(this.#at, this.#at + 12).join("")) ?? [];
      if (whole === undefined) throw this.#refused("a { that repeats nothing is text in some engines. Write \\{ for the character.");
      if (Math.max(Number(least), Number(most ?? 0)) > MAX_REPEAT) throw this.#refused(`it repeats more than ${MAX_REPEAT} times.`);
      if (most !== undefined && most !== "" && Number(most) < Number(least))
        throw this.#invalid(`${whole} has its numbers in the wrong order`);
      this.#at += whole.length;
      quantifier = whole;
    }
    if (quantifier !== "" && this.#peek() === "?") quantifier += this.#take();
    return quantifier;
  }

  #isQuantifier(): boolean {
    return /^[*+?{]$/.test(this.#peek() ?? "");
  }

  #class(): Part {
    const negated = this.#peek() === "^";
    if (negated) this.#at++;
    const items: Part[] = [];
    for (let first = true; ; first = false) {
      const character = this.#take("a [ is never closed");
      if (character === "]") {
        if (first) throw this.#refused("a ] right after [ is an empty class in some engines. Write \\] for the character.");
        break;
      }
      items.push(this.#classItem(character, negated, first));
    }
    const { script, rust } = join(items);
    return negated
      ? { script: `[^${script}${NO_CHARACTER}]`, rust: `[^${rust}]` }
      : { script: `[[${script}]--${NO_CHARACTER}]`, rust: `[${rust}]` };
  }

  #classItem(character: string, negated: boolean, first: boolean): Part {
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

  #member(start: number, end: number, negated: boolean): Part {
    if (start <= 10 && end >= 10 && !negated && !this.#multiline && start !== 9) throw this.#lineEnd();
    return { script: range(start, end, "\\u"), rust: range(start, end, "\\x") };
  }

  /** A code point, or a set of them. */
  #classCharacter(character: string): number | Part {
    if (character === "[")
      throw this.#refused("a [ within [ ] differs between engines. Write \\[ for the character; [:names:] are ripgrep's alone.");
    if (/^[&~-]$/.test(character) && this.#peek() === character)
      throw this.#refused(`${character}${character} within [ ] differs between engines. Write \\${character}.`);
    if (character !== "\\") return this.#codePoint(character);
    const letter = this.#take("it ends with a backslash");
    return this.#set(letter) ?? this.#escapedCodePoint(letter);
  }

  #escape(): Part {
    const letter = this.#take("it ends with a backslash");
    const set = this.#set(letter);
    if (set !== undefined) return /[DWSP]/.test(letter) ? { script: `[${set.script}--${NO_CHARACTER}]`, rust: set.rust } : set;
    return this.#literal(String.fromCodePoint(this.#escapedCodePoint(letter)));
  }

  #set(letter: string): Part | undefined {
    if (letter === "p" || letter === "P") {
      const [name] = CATEGORIES.exec(this.#characters.slice(this.#at, this.#at + 4).join("")) ?? [];
      if (name === undefined) throw this.#refused(`of \\${letter}{…} only general categories are known alike, as in \\p{Lu}.`);
      this.#at += name.length;
      return { script: `\\${letter}${name}`, rust: `\\${letter}${name}` };
    }
    const set = SETS[letter.toLowerCase()];
    if (set === undefined) return undefined;
    return { script: letter === letter.toLowerCase() ? set : `[^${set}]`, rust: `\\${letter}` };
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

  #literal(character: string): Part {
    const point = this.#codePoint(character);
    if (point === 10 && !this.#multiline) throw this.#lineEnd();
    return { script: range(point, point, "\\u"), rust: range(point, point, "\\x") };
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

function join(parts: readonly Part[]): Part {
  return { script: parts.map(({ script }) => script).join(""), rust: parts.map(({ rust }) => rust).join("") };
}

function range(start: number, end: number, escape: "\\u" | "\\x"): string {
  const first = `${escape}{${start.toString(16)}}`;
  return start === end ? first : `${first}-${escape}{${end.toString(16)}}`;
}

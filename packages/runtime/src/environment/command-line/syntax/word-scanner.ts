import { decodeAnsiCQuotes } from "./ansi-c-quotes.ts";
import { SourceCursor } from "./source-cursor.ts";
import type { Expansion, Statement, Word, WordPart } from "./syntax-tree.ts";

const PLAIN_RUN = /[^ \t\n|&;<>()'"`$\\]+/y;
/** A word ends here, or at a continuation that is followed by one of these. */
const WORD_END = /(?:\\\n)*(?:[ \t\n;&|]|$)/y;
const METACHARACTERS = " \t\n|&;<>()";
const PARAMETER_NAME = /\$(?:[A-Za-z_]\w*|[\d@*#?$!-])/y;
/** `${…}` whose words hold no quotes and no expansions, so that its end and its effect are clear. */
const SIMPLE_PARAMETER =
  /\$\{(?:#?(?:\w+|[@*#?$!-])(?:\[[@*\d]+\])?|(?:\w+|[@*])(?:\[[@*\d]+\])?(?::?[-+?][^'"`$\\{}()]*|%%?[^'"`$\\{}()]*|##?[^'"`$\\{}()]*|:\d+(?::\d+)?|\/\/?[^'"`$\\{}()]*|,,?|\^\^?))\}/y;
const ANSI_C = /\$'((?:[^'\\]|\\[^])*)'/y;
const BACKTICKS = /`((?:[^`\\]|\\[^])*)`/y;
const ESCAPED_IN_DOUBLE_QUOTES = '$`"\\\n';
const UNSURE_IN_BACKTICKS = /[\\#]|<</;

/** Where a word stands. In the right-hand side of a test more characters belong to it. */
export type WordPlace = "command" | "pattern" | "regex";

/** The parts and expansions that were found in a word so far. */
interface OpenWord {
  readonly parts: WordPart[];
  readonly expansions: Expansion[];
}

/** Reads words with their quotes and expansions. */
export abstract class WordScanner extends SourceCursor {
  /** Reads the statements of `$(…)` up to its closing parenthesis. */
  protected abstract substitution(): readonly Statement[];
  /** Reads the statements of a text that is decoded first, such as the one between backticks. */
  protected abstract statementsOf(text: string): readonly Statement[];

  /** Reads one word, which may be empty. */
  protected word(place: WordPlace = "command"): Word {
    const start = this.at;
    const word: OpenWord = { parts: [], expansions: [] };
    if (place === "command" && (this.startsWith("<(") || this.startsWith(">("))) this.#processSubstitution(word);
    while (!this.isAtEnd) {
      const character = this.source[this.at] as string;
      if (METACHARACTERS.includes(character)) {
        if (place === "command" || !this.#patternCharacter(character, place, word)) break;
      } else if (character === "\\") {
        if (this.source[this.at + 1] === "\n") {
          if (this.match(WORD_END) === null) this.fail();
          break;
        }
        this.#escaped(word);
      } else if (character === "'") this.#singleQuotes(word);
      else if (character === '"') this.#doubleQuotes(word);
      else if (character === "`") this.#backticks(word, false);
      else if (character === "$") this.#dollar(word, false);
      else {
        const text = this.match(PLAIN_RUN)?.[0] ?? this.fail();
        word.parts.push({ kind: "plain", text });
        this.at += text.length;
      }
    }
    const next = this.source[this.at];
    // Bash goes on with the word at `<(` and `>(`.
    if ((next === "<" || next === ">") && this.source[this.at + 1] === "(") this.fail();
    return { text: this.source.slice(start, this.at), ...word };
  }

  /** Reads the expansions of a text in which quotes mean nothing, as in a here-document. */
  protected expansionsOfText(): readonly Expansion[] {
    const word: OpenWord = { parts: [], expansions: [] };
    while (!this.isAtEnd) {
      const character = this.source[this.at];
      if (character === "\\") this.at += 2;
      else if (character === "$") this.#dollar(word, true);
      else if (character === "`") this.#backticks(word, true);
      else this.at++;
    }
    return word.expansions;
  }

  /** Reads what is calculated up to `closer`, which is passed. `undefined` if bash may take it for nested subshells. */
  protected arithmetic(closer: "))" | "]"): { readonly expression: string; readonly expansions: readonly Expansion[] } | undefined {
    const start = this.at;
    const word: OpenWord = { parts: [], expansions: [] };
    const [open, close] = closer === "]" ? ["[", "]"] : ["(", ")"];
    for (let depth = 0; !this.isAtEnd;) {
      const character = this.source[this.at];
      if (character === "$") this.#dollar(word, true);
      else if (character === "`") this.#backticks(word, true);
      else if (character === "\\") this.at += 2;
      else if (character === close && depth === 0) {
        if (!this.startsWith(closer)) return undefined;
        const expression = this.source.slice(start, this.at);
        this.at += closer.length;
        return { expression, expansions: word.expansions };
      } else {
        if (character === open) depth++;
        else if (character === close) depth--;
        this.at++;
      }
    }
    return undefined;
  }

  /** Reads a character that ends words elsewhere. False if it ends this one, too. */
  #patternCharacter(character: string, place: WordPlace, word: OpenWord): boolean {
    if (place === "regex" && character === "|") {
      word.parts.push({ kind: "plain", text: character });
      this.at++;
      return true;
    }
    if (character !== "(" || (place === "pattern" && !"?*+@!".includes(this.source[this.at - 1] ?? " "))) return false;
    this.nest(() => this.#patternGroup(word));
    return true;
  }

  #patternGroup(word: OpenWord): void {
    this.at++;
    while (this.source[this.at] !== ")") {
      const character = this.source[this.at];
      if (character === undefined || " \t\n&;<>".includes(character)) this.fail();
      if (character === "(") this.#patternGroup(word);
      else if (character === "\\") this.#escaped(word);
      else if (character === "'") this.#singleQuotes(word);
      else if (character === '"') this.#doubleQuotes(word);
      else if (character === "`") this.#backticks(word, false);
      else if (character === "$") this.#dollar(word, false);
      else this.at++;
    }
    this.at++;
  }

  #escaped({ parts }: OpenWord): void {
    const text = this.source[this.at + 1];
    if (text === undefined || text === "\n") this.fail();
    parts.push({ kind: "quoted", text });
    this.at += 2;
  }

  #singleQuotes({ parts }: OpenWord): void {
    const close = this.source.indexOf("'", this.at + 1);
    if (close < 0) this.fail();
    parts.push({ kind: "quoted", text: this.source.slice(this.at + 1, close) });
    this.at = close + 1;
  }

  #doubleQuotes(word: OpenWord): void {
    const start = this.at++;
    let text = "";
    const endText = (): void => void word.parts.push({ kind: "quoted", text });
    for (;;) {
      const character = this.source[this.at] ?? this.fail(start);
      const following = this.source[this.at + 1];
      if (character === '"') {
        endText();
        this.at++;
        return;
      }
      if (character === "$" || character === "`") {
        const count = word.parts.length;
        const from = this.at;
        endText();
        if (character === "`") this.#backticks(word, true);
        else this.#dollar(word, true);
        if (word.parts.length === count + 1) {
          // A dollar that expands nothing is text.
          word.parts.pop();
          text += this.source.slice(from, this.at);
        } else text = "";
      } else if (character === "\\" && following !== undefined && ESCAPED_IN_DOUBLE_QUOTES.includes(following)) {
        if (following !== "\n") text += following;
        this.at += 2;
      } else {
        text += character;
        this.at++;
      }
    }
  }

  #processSubstitution(word: OpenWord): void {
    const start = this.at;
    this.at += 2;
    const statements = this.substitution();
    this.#substituted(word, { start, statements, inQuotes: false });
  }

  #backticks(word: OpenWord, inQuotes: boolean): void {
    const start = this.at;
    const [whole, inner] = (this.match(BACKTICKS) ?? this.fail()) as unknown as readonly [string, string];
    this.at += whole.length;
    const decoded = inner.replace(inQuotes ? /\\([\\`$"])/g : /\\([\\`$])/g, "$1");
    const statements = this.statementsOf(decoded);
    this.#substituted(word, { start, statements, inQuotes, isUnsure: UNSURE_IN_BACKTICKS.test(inner) });
  }

  #substituted(
    { parts, expansions }: OpenWord,
    found: { readonly start: number; readonly statements: readonly Statement[]; readonly inQuotes: boolean; readonly isUnsure?: boolean },
  ): void {
    const text = this.source.slice(found.start, this.at);
    parts.push({ kind: "substitution", text, whole: found.inQuotes });
    expansions.push({ kind: "substitution", text, statements: found.statements, ...(found.isUnsure === true && { isUnsure: true }) });
  }

  /** Reads what begins with a dollar. */
  #dollar(word: OpenWord, inQuotes: boolean): void {
    const start = this.at;
    const next = this.source[start + 1];
    if (next === "(" || next === "{" || next === "[") return this.nest(() => this.#bracketed(next, word, inQuotes));
    if (next === "\\" && this.source[start + 2] === "\n") this.fail();
    if (next === "'" && !inQuotes) return this.#ansiCQuotes(word);
    const name = this.match(PARAMETER_NAME)?.[0];
    this.at += name?.length ?? 1;
    if (name !== undefined) word.parts.push({ kind: "expansion", text: name, whole: inQuotes });
    // The quotes of `$"…"` follow as a part of their own.
    else if (!inQuotes && next !== '"') word.parts.push({ kind: "plain", text: "$" });
  }

  #bracketed(bracket: "(" | "{" | "[", word: OpenWord, inQuotes: boolean): void {
    if (bracket === "{") return this.#parameter(word, inQuotes);
    const start = this.at;
    const isArithmetic = bracket === "[" || this.source[start + 2] === "(";
    this.at += bracket === "(" && isArithmetic ? 3 : 2;
    if (!isArithmetic) return this.#substituted(word, { start, statements: this.substitution(), inQuotes });
    const found = this.arithmetic(bracket === "[" ? "]" : "))") ?? this.fail(start + 2);
    const text = this.source.slice(start, this.at);
    word.parts.push({ kind: "expansion", text, whole: inQuotes });
    word.expansions.push({ kind: "arithmetic", text, ...found });
  }

  #parameter(word: OpenWord, inQuotes: boolean): void {
    const start = this.at;
    const simple = this.match(SIMPLE_PARAMETER)?.[0];
    if (simple !== undefined) {
      this.at += simple.length;
      word.parts.push({ kind: "expansion", text: simple, whole: inQuotes });
      return;
    }
    const inner: OpenWord = { parts: [], expansions: [] };
    this.at += 2;
    while (this.source[this.at] !== "}") {
      const character = this.source[this.at] ?? this.fail(start + 2);
      if (character === "\\") this.at += 2;
      else if (character === "$") this.#dollar(inner, inQuotes);
      else if (character === "`") this.#backticks(inner, inQuotes);
      else if (character === '"') this.#doubleQuotes(inner);
      else if (character === "'" && !inQuotes) this.#singleQuotes(inner);
      else this.at++;
    }
    this.at++;
    const text = this.source.slice(start, this.at);
    word.parts.push({ kind: "expansion", text, whole: inQuotes });
    word.expansions.push({ kind: "parameter", text, expansions: inner.expansions });
  }

  #ansiCQuotes({ parts }: OpenWord): void {
    const [whole, inner] = (this.match(ANSI_C) ?? this.fail()) as unknown as readonly [string, string];
    this.at += whole.length;
    const text = decodeAnsiCQuotes(inner);
    if (text === undefined) this.findings.doubts.push(whole);
    parts.push(text === undefined ? { kind: "expansion", text: whole, whole: true } : { kind: "quoted", text });
  }
}

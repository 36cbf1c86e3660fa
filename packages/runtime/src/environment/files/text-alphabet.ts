import type { PatternPlace } from "./pattern-node.ts";

/** Characters that no step of a program tells apart. */
export interface CharacterClass {
  readonly id: number;
  /** Whether it is in each of the program's sets. */
  readonly inSet: readonly boolean[];
  readonly sides: Sides;
}

/** What a place beside a character is told by. */
export interface Sides {
  readonly isWord: boolean;
  /** A byte that is part of no character. */
  readonly isStray: boolean;
  /** A line begins after it. */
  readonly beginsLine: boolean;
  /** A line ends before it. */
  readonly endsLine: boolean;
}

export interface TextAlphabet {
  /** Where a text begins or ends. */
  readonly edge: CharacterClass;
  /** The class of the character that begins at an index of a text which ends at `to`. */
  at(text: string, index: number, to: number): CharacterClass;
}

/** A character of words, in Unicode: a class of JavaScript's `v` mode. */
export const WORD = "[\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\p{Join_Control}]";
/** A byte that is no UTF-8, which is a lone surrogate in decoded text. */
export const STRAY = "\\p{Cs}";
const NEWLINE = 10;
const RETURN = 13;
const EDGE: Sides = { isWord: false, isStray: false, beginsLine: true, endsLine: true };

export interface TextAlphabetOptions {
  readonly caseInsensitive: boolean;
  readonly spansLines: boolean;
}

/** @param sets classes of JavaScript's `v` mode, each of which is asked about one character at a time */
export function createTextAlphabet(sets: readonly string[], { caseInsensitive, spansLines }: TextAlphabetOptions): TextAlphabet {
  const [isWord, isStray, ...inSets] = [WORD, STRAY, ...sets].map((set) => new RegExp(`^${set}$`, caseInsensitive ? "vi" : "v"));
  const classes = new Map<string, CharacterClass>();
  const classOf = (sides: Sides, inSet: readonly boolean[]): CharacterClass => {
    const key = [...Object.values(sides), ...inSet].map(Number).join("");
    let found = classes.get(key);
    if (found === undefined) classes.set(key, (found = { id: classes.size, inSet, sides }));
    return found;
  };
  const classify = (point: number, endsLine: boolean): CharacterClass => {
    const character = String.fromCodePoint(point);
    return classOf(
      { isWord: isWord?.test(character) === true, isStray: isStray?.test(character) === true, beginsLine: character === "\n", endsLine },
      inSets.map((set) => set.test(character)),
    );
  };
  const edge = classOf(
    EDGE,
    inSets.map(() => false),
  );
  const endingReturn = classify(RETURN, true);
  // Most characters of most texts; the others are many and rare.
  const ascii = Array.from<CharacterClass | undefined>({ length: 0x80 });
  const others = new Map<number, CharacterClass>();

  return {
    edge,
    at(text, index, to) {
      const unit = text.charCodeAt(index);
      // The line end \r\n begins with its \r.
      if (unit === RETURN && spansLines && (index + 1 === to || text.charCodeAt(index + 1) === NEWLINE)) return endingReturn;
      if (unit < 0x80) return (ascii[unit] ??= classify(unit, unit === NEWLINE));
      const point = text.codePointAt(index) as number;
      let found = others.get(point);
      if (found === undefined) others.set(point, (found = classify(point, false)));
      return found;
    },
  };
}

export function holdsBetween(place: PatternPlace, left: Sides, right: Sides): boolean {
  switch (place) {
    case "start":
      return left.beginsLine;
    case "end":
      return right.endsLine;
    case "border":
      return left.isWord !== right.isWord;
    case "no-border":
      // Beside a stray byte ripgrep does not know whether there is a word.
      return !left.isStray && !right.isStray && left.isWord === right.isWord;
  }
}

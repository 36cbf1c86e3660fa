import { type PatternNode, reversed } from "./pattern-node.ts";
import { compilePattern } from "./pattern-program.ts";
import { createTextAlphabet } from "./text-alphabet.ts";
import { createTextAutomaton } from "./text-automaton.ts";

/** Where a pattern matches. */
export interface TextSpan {
  readonly start: number;
  readonly end: number;
  /** What it took to find it: more than the span and what is before it, when the pattern had to look further. */
  readonly charactersRead: number;
}

/** Looks for a pattern in the part of a text from `from` to `to`, in time proportional to its length, whatever the pattern. */
export interface TextMatcher {
  /** Before each new text: its searches may take a second or two before they throw `SearchTooLong`. */
  restart(): void;
  matches(text: string, from: number, to: number): boolean;
  /** Where the first match begins. */
  startIn(text: string, from: number, to: number): number | undefined;
  /** The first match that begins at `at` or after. Of several that begin there, the one that the pattern prefers. */
  find(text: string, from: number, to: number, at: number): TextSpan | undefined;
}

export interface TextMatcherOptions {
  readonly caseInsensitive: boolean;
  /** Whether the texts are of several lines; if not, of one, without its end. */
  readonly spansLines: boolean;
}

/** `undefined` when the pattern is too long, its repetitions written out. */
export function createTextMatcher(pattern: PatternNode, options: TextMatcherOptions): TextMatcher | undefined {
  const sets = new Map<string, number>();
  const [program, backwardProgram] = [compilePattern(pattern, sets), compilePattern(reversed(pattern), sets)];
  if (program === undefined || backwardProgram === undefined) return undefined;
  const alphabet = createTextAlphabet([...sets.keys()], options);
  const forwards = createTextAutomaton({ program });
  const preferring = createTextAutomaton({ program, prefers: true });
  const backwards = createTextAutomaton({ program: backwardProgram, backwards: true });

  function matches(text: string, from: number, to: number): boolean {
    let state = forwards.begin(alphabet.edge, true);
    for (let index = from; ; index += width(text, index)) {
      const move = forwards.move(state, index >= to ? alphabet.edge : alphabet.at(text, index, to));
      if (move.matches) return true;
      if (index >= to) return false;
      state = move.to;
    }
  }

  /** Where the first match ends that begins at `at` or after, and how far was read. */
  function endOf(text: string, from: number, to: number, at: number): { end: number; read: number } | undefined {
    let end: number | undefined;
    let index = at;
    let state = preferring.begin(at === from ? alphabet.edge : alphabet.at(text, before(text, at), to), true);
    for (; ; index += width(text, index)) {
      const move = preferring.move(state, index >= to ? alphabet.edge : alphabet.at(text, index, to));
      if (move.matches) end = index;
      state = move.to;
      if (state.isOver || index >= to) break;
    }
    return end === undefined ? undefined : { end, read: index - at };
  }

  /** The farthest beginning, not before `at`, of matches that end at `end`, or before it with `anywhere`. */
  function startBefore(text: string, from: number, to: number, at: number, end: number, anywhere: boolean): number | undefined {
    let start: number | undefined;
    let state = backwards.begin(end === to ? alphabet.edge : alphabet.at(text, end, to), anywhere);
    for (let index = end; ; index = before(text, index)) {
      const move = backwards.move(state, index === from ? alphabet.edge : alphabet.at(text, before(text, index), to));
      if (move.matches) start = index;
      state = move.to;
      if (state.isOver || index <= at) return start;
    }
  }

  return {
    restart() {
      for (const automaton of [forwards, preferring, backwards]) automaton.restart();
    },
    matches,
    startIn: (text, from, to) => startBefore(text, from, to, from, to, true),
    find(text, from, to, at) {
      const found = endOf(text, from, to, at);
      if (found === undefined) return undefined;
      const start = startBefore(text, from, to, at, found.end, false) ?? found.end;
      return { start, end: found.end, charactersRead: found.read + found.end - start };
    },
  };
}

function width(text: string, index: number): number {
  return isPair(text, index) ? 2 : 1;
}

function before(text: string, index: number): number {
  return index >= 2 && isPair(text, index - 2) ? index - 2 : index - 1;
}

function isPair(text: string, index: number): boolean {
  const unit = text.charCodeAt(index);
  // Half a character stands for a stray byte, and is always the second half.
  return unit >= 0xd800 && unit < 0xdc00;
}

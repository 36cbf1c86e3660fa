import type { PatternProgram } from "./pattern-program.ts";
import { type CharacterClass, holdsBetween, type Sides } from "./text-alphabet.ts";

/** Where looking for a pattern stands: what was read last, and the steps that are yet to be taken. */
export interface AutomatonState {
  readonly read: Sides;
  readonly pending: readonly number[];
  /** Whether a match may begin here, too. */
  readonly mayBegin: boolean;
  /** No match can come of it. */
  readonly isOver: boolean;
  readonly moves: (Move | undefined)[];
}

/** What the next character does. */
export interface Move {
  /** A match ends before it. */
  readonly matches: boolean;
  readonly to: AutomatonState;
}

export interface AutomatonOptions {
  readonly program: PatternProgram;
  /** The program is of the reversed pattern, and the text is read from its end. */
  readonly backwards?: boolean;
  /** Whether it follows only matches that the pattern prefers to those found so far. If not, all. */
  readonly prefers?: boolean;
}

export interface TextAutomaton {
  /**
   * @param read the character before, or after when backwards
   * @param anywhere whether a match may begin later, too
   */
  begin(read: CharacterClass, anywhere: boolean): AutomatonState;
  /** @throws SearchTooLong when more was computed since the last `restart` than a second or two are enough for */
  move(state: AutomatonState, next: CharacterClass): Move;
  restart(): void;
}

/** Looking for a pattern would take too long. */
export class SearchTooLong extends Error {
  override readonly name = "SearchTooLong";
}

// States that are remembered; beyond, they are forgotten and found again.
const MAX_STATES = 2000;
// Computed in one text. What is remembered costs nothing.
const MAX_STEPS_TAKEN = 50_000_000;

/**
 * Takes all ways through a program at once, so that each character is read once, whatever the pattern: steps that were
 * taken are remembered as states, of which most texts need few. (A lazily built automaton, as in RE2 and ripgrep.)
 */
export function createTextAutomaton({ program, backwards = false, prefers = false }: AutomatonOptions): TextAutomaton {
  const { steps, start } = program;
  let states = new Map<string, AutomatonState>();
  let taken = 0;

  function stateOf(read: Sides, pending: number[], mayBegin: boolean): AutomatonState {
    // In one order, where the order says nothing, so that few states are many ways.
    if (!prefers) pending.sort((a, b) => a - b);
    const key = `${Object.values(read).map(Number).join("")}${mayBegin ? "+" : "-"}${pending.join(",")}`;
    let state = states.get(key);
    if (state === undefined) {
      if (states.size >= MAX_STATES) {
        for (const forgotten of states.values()) forgotten.moves.length = 0;
        states = new Map();
      }
      state = { read, pending, mayBegin, isOver: pending.length === 0 && !mayBegin, moves: [] };
      states.set(key, state);
    }
    return state;
  }

  function compute({ read, pending, mayBegin }: AutomatonState, next: CharacterClass): Move {
    const [left, right] = backwards ? [next.sides, read] : [read, next.sides];
    const seen = new Set<number>();
    const after: number[] = [];
    const reached = new Set<number>();
    let matches = false;
    // The most wanted is on top.
    const open = (mayBegin ? [...pending, start] : [...pending]).reverse();
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      if (seen.has(at)) continue;
      seen.add(at);
      const step = steps[at];
      if (step?.type === "split") open.push(step.second, step.first);
      else if (step?.type === "place") {
        if (holdsBetween(step.place, left, right)) open.push(step.next);
      } else if (step?.type === "set") {
        if (next.inSet[step.set] && !reached.has(step.next)) {
          reached.add(step.next);
          after.push(step.next);
        }
      } else {
        matches = true;
        if (prefers) break; // what is left is wanted less
      }
    }
    taken += seen.size;
    if (taken > MAX_STEPS_TAKEN) throw new SearchTooLong();
    return { matches, to: stateOf(next.sides, after, mayBegin && !(prefers && matches)) };
  }

  return {
    begin: (read, anywhere) => stateOf(read.sides, anywhere ? [] : [start], anywhere),
    move: (state, next) => (state.moves[next.id] ??= compute(state, next)),
    restart() {
      taken = 0;
    },
  };
}

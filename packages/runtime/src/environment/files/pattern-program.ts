import { matchesNothing, type PatternNode, type PatternPlace } from "./pattern-node.ts";

/** One step of looking for a pattern. `next` and its like are places in the program. */
export type Step =
  | { readonly type: "set"; readonly set: number; readonly next: number }
  | { readonly type: "place"; readonly place: PatternPlace; readonly next: number }
  /** The first way is tried before the second. */
  | { readonly type: "split"; first: number; second: number }
  | { readonly type: "match" };

export interface PatternProgram {
  readonly steps: readonly Step[];
  readonly start: number;
}

// Time to look for a pattern is at most text times steps.
const MAX_STEPS = 2000;

/**
 * `undefined` when it has too many steps, its repetitions written out.
 * @param sets the numbers of sets, to which those of the pattern are added
 */
export function compilePattern(pattern: PatternNode, sets: Map<string, number>): PatternProgram | undefined {
  const steps: Step[] = [{ type: "match" }];
  const add = (step: Step): number => {
    if (steps.length >= MAX_STEPS) throw TOO_LONG;
    return steps.push(step) - 1;
  };
  /** Where to begin so that `node` is followed by the step `next`. */
  const compile = (node: PatternNode, next: number): number => {
    switch (node.type) {
      case "set": {
        const set = sets.get(node.script) ?? sets.size;
        sets.set(node.script, set);
        return add({ type: "set", set, next });
      }
      case "place":
        return add({ type: "place", place: node.place, next });
      case "sequence":
        return node.parts.reduceRight((after, part) => compile(part, after), next);
      case "choice":
        return node.options.map((option) => compile(option, next)).reduceRight((second, first) => add({ type: "split", first, second }));
      case "repeat":
        return repeat(node, next);
    }
  };
  const repeat = ({ part, least, most, lazy }: Extract<PatternNode, { type: "repeat" }>, next: number): number => {
    const split = (inner: number, after: number): number =>
      add(lazy ? { type: "split", first: after, second: inner } : { type: "split", first: inner, second: after });
    let at = next;
    if (most === Number.POSITIVE_INFINITY) {
      const loop: Extract<Step, { type: "split" }> = { type: "split", first: next, second: next };
      const again = add(loop);
      const inner = compile(part, again);
      if (lazy) loop.second = inner;
      else loop.first = inner;
      // Once at least; then what may be skipped is skipped by a way of its own, for a part that matches nothing would end the loop.
      if (least > 0) at = inner;
      else at = matchesNothing(part) ? split(inner, next) : again;
    } else for (let count = least; count < most; count++) at = split(compile(part, at), next);
    const written = most === Number.POSITIVE_INFINITY ? least - 1 : least;
    for (let count = 0; count < written; count++) at = compile(part, at);
    return at;
  };
  try {
    const start = compile(pattern, 0);
    return { steps, start };
  } catch (error) {
    if (error === TOO_LONG) return undefined;
    throw error;
  }
}

const TOO_LONG = new RangeError("too many steps");

/** A pattern taken apart once. `literals` are the stretches between the wildcards, so there is always one more of them. */
export interface Glob {
  readonly literals: readonly [string, ...string[]];
  /** True if it has `**`: in rules about commands, that covers words that no table lists. */
  readonly anything?: boolean;
}

/** Linear in the text for every literal: no pattern makes it backtrack. */
export function matchesGlob({ literals }: Glob, text: string): boolean {
  const first = literals[0];
  const last = literals.length - 1;
  if (last === 0) return text === first;
  if (!text.startsWith(first)) return false;
  const tail = literals[last]!;
  const end = text.length - tail.length;
  let position = first.length;
  if (end < position || !text.endsWith(tail)) return false;
  for (let index = 1; index < last; index++) {
    const literal = literals[index]!;
    const found = text.indexOf(literal, position);
    if (found < 0) return false;
    position = found + literal.length;
  }
  return position <= end;
}

/** Whether there is a text that both match. */
export function globsMeet(one: Glob, other: Glob): boolean {
  const [left, right] = [tokensOf(one), tokensOf(other)];
  // `reached[at]`: some text takes `left` to where the loop is, and `right` to `at`.
  let reached = closed(new Set([0]), right);
  for (const token of left) {
    const next = new Set<number>();
    for (const at of reached) {
      if (token === ANY) for (let later = at; later <= right.length; later++) next.add(later);
      else if (right[at] === ANY) next.add(at);
      else if (right[at] === token) next.add(at + 1);
    }
    reached = closed(next, right);
  }
  return reached.has(right.length);
}

// No single character.
const ANY = "any";

function tokensOf({ literals }: Glob): readonly string[] {
  return literals.flatMap((literal, index) => [...(index === 0 ? [] : [ANY]), ...literal]);
}

/** A star may stand for nothing. */
function closed(reached: Set<number>, tokens: readonly string[]): Set<number> {
  for (const at of reached) if (tokens[at] === ANY) reached.add(at + 1);
  return reached;
}

export function compileGlob(pattern: string): Glob {
  const literals: [string, ...string[]] = [""];
  let anything = false;
  for (let index = 0; index < pattern.length; index++) {
    const character = pattern[index]!;
    const next = pattern[index + 1];
    if (character === "*") {
      if (next === "*") anything = true;
      // Neighbouring stars say no more than one.
      if (literals.length === 1 || literals.at(-1) !== "") literals.push("");
    } else if (character === "\\" && (next === "*" || next === "\\")) {
      literals[literals.length - 1] += next;
      index++;
    } else {
      literals[literals.length - 1] += character;
    }
  }
  return { literals, ...(anything && { anything }) };
}

/** A pattern taken apart once. `literals` are the stretches between the wildcards, so there is always one more of them. */
export interface Glob {
  readonly literals: readonly [string, ...string[]];
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

export function compileGlob(pattern: string): Glob {
  const literals: [string, ...string[]] = [""];
  for (let index = 0; index < pattern.length; index++) {
    const character = pattern[index]!;
    const next = pattern[index + 1];
    if (character === "*") {
      // Neighbouring stars say no more than one.
      if (literals.length === 1 || literals.at(-1) !== "") literals.push("");
    } else if (character === "\\" && (next === "*" || next === "\\")) {
      literals[literals.length - 1] += next;
      index++;
    } else {
      literals[literals.length - 1] += character;
    }
  }
  return { literals };
}

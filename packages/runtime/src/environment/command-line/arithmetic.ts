import { type Reading, shorten } from "./reading.ts";
import { isOrdinary } from "./variables.ts";

// No quotes, no subscripts and no substitutions: what is left can only calculate.
const PLAIN = /^[\w\s+\-*/%<>=!&|^~?:(),$#]*$/;
const SETS = /([A-Za-z_]\w*)\s*=(?!=)/g;
const NUMBERS = /(?<![$\w])(?:0[xX][\da-fA-F]+|\d+)\b/g;
const NAMES = /\$?[A-Za-z_]\w*|\$[\d@*]/g;

/**
 * Reads the text within `((…))`, `$((…))`, `let` and subscripts. Bash evaluates the values of variables there as expressions of their own, and
 * a subscript in one may run commands: `x='a[$(evil)]'; echo $((x))`. So variables that the line sets to text are in doubt.
 */
export function readArithmetic(text: string, reading: Reading): void {
  if (text === "@" || text === "*") return;
  // A result is a number.
  for (const [, name = ""] of text.matchAll(SETS)) if (isOrdinary(name)) reading.numbers.add(name);
  if (!PLAIN.test(text) || text.includes("$(") || !isBalanced(text) || calculatesWithArguments(text, reading))
    reading.unknown.add(`What \`${shorten(text)}\` runs where it is calculated can't be read.`);
}

/** Notes the variables that are calculated with. True if they are arguments, of which nobody knows what they hold. */
export function calculatesWithArguments(text: string, reading: Reading): boolean {
  const names = text.replace(NUMBERS, " ").match(NAMES) ?? [];
  for (const name of names) reading.calculated.add(name.replace("$", ""));
  return names.some((name) => /^\$[\d@*]/.test(name));
}

/** Doubts variables that the line does not set to numbers alone. A function or a loop may calculate before the line, as it is written, sets one. */
export function doubtCalculated({ calculated, numbers, texts, unknown }: Reading): void {
  for (const name of calculated)
    if (!numbers.has(name) || texts.has(name)) unknown.add(`What \`${name}\` runs where it is calculated can't be read.`);
}

function isBalanced(text: string): boolean {
  let depth = 0;
  for (const character of text) {
    if (character === "(") depth++;
    else if (character === ")" && --depth < 0) return false;
  }
  return depth === 0;
}

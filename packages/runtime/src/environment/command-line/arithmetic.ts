import { type Reading, shorten } from "./reading.ts";

// No quotes, no subscripts and no substitutions: what is left can only calculate.
const PLAIN = /^[\w\s+\-*/%<>=!&|^~?:(),$#]*$/;
const NAMES = /\$?[A-Za-z_]\w*|\$[\d@*]/g;

/**
 * What stands in `((…))`, `$((…))`, `let` and subscripts. Bash evaluates the values of variables there as expressions of their own, and
 * a subscript in one may run commands: `x='a[$(evil)]'; echo $((x))`. So variables that the line sets to text are in doubt.
 */
export function readArithmetic(text: string, reading: Reading): void {
  if (text === "@" || text === "*") return;
  if (!PLAIN.test(text) || text.includes("$(") || !isBalanced(text) || calculatesWithArguments(text, reading))
    reading.unknown.add(`What \`${shorten(text)}\` runs where it is calculated can't be read.`);
}

/** Notes the variables that are calculated with. Whether it are arguments, of which nobody knows what they hold. */
export function calculatesWithArguments(text: string, reading: Reading): boolean {
  const names = text.match(NAMES) ?? [];
  for (const name of names) reading.calculated.add(name.replace("$", ""));
  return names.some((name) => /^\$[\d@*]/.test(name));
}

/** A function or a loop may calculate before the line, as it is written, sets the variable: so this is asked at its end. */
export function doubtCalculated({ calculated, texts, unknown }: Reading): void {
  for (const name of calculated) if (texts.has(name)) unknown.add(`What \`${name}\` runs where it is calculated can't be read.`);
}

function isBalanced(text: string): boolean {
  let depth = 0;
  for (const character of text) {
    if (character === "(") depth++;
    else if (character === ")" && --depth < 0) return false;
  }
  return depth === 0;
}

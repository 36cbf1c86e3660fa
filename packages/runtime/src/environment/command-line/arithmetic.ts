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
  if (!PLAIN.test(text) || text.includes("$(") || !isBalanced(text) || hasDoubtfulName(text, reading))
    reading.unknown.add(`What \`${shorten(text)}\` runs where it is calculated can't be read.`);
}

/** Whether a value that is calculated with may hold code. */
export function hasDoubtfulName(text: string, reading: Reading): boolean {
  return (text.match(NAMES) ?? []).some((name) => /^\$[\d@*]/.test(name) || reading.texts.has(name.replace("$", "")));
}

function isBalanced(text: string): boolean {
  let depth = 0;
  for (const character of text) {
    if (character === "(") depth++;
    else if (character === ")" && --depth < 0) return false;
  }
  return depth === 0;
}

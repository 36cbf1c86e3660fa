import { findNearestText } from "./nearest-text.ts";
import { MAX_CANDIDATES, type Placement } from "./place-edit.ts";

const MAX_NAMED_LINES = 10;

/** Lines as "3, 5 and more". */
export function namedLines(lines: readonly number[]): string {
  return lines.slice(0, MAX_NAMED_LINES).join(", ") + (lines.length > MAX_NAMED_LINES ? " and more" : "");
}

/** Returns the place in a text that is most like what was looked for, as a sentence with its lines and their numbers. */
export function describeNearest(text: string, wanted: string): string {
  const nearest = findNearestText(text, wanted);
  if (nearest === undefined) return "Nothing in it is like it. Read the file again.";
  const difference = nearest.onlyWhitespace ? "The text there differs only in white space" : "The nearest text";
  return `${difference}, at line ${nearest.line}:\n${nearest.excerpt}\nCopy it exactly, without the line numbers.`;
}

/**
 * Explains to the model why an edit was not made, and what to do.
 * @param name the argument that holds the old text
 */
export function explainFailure(
  failure: Exclude<Placement, { readonly kind: "placed" }>,
  { path, text, old, name }: { readonly path: string; readonly text: string; readonly old: string; readonly name: string },
): string {
  switch (failure.kind) {
    case "refused":
      return `${path} was not changed: ${failure.reason}.`;
    case "ambiguous": {
      const loosely = failure.note === undefined ? "" : ` (${failure.note})`;
      const times = failure.lines.length < MAX_CANDIDATES ? failure.lines.length : `at least ${MAX_CANDIDATES}`;
      return `${name} occurs ${times} times in ${path}${loosely}, at lines ${namedLines(failure.lines)}. Add lines around it until it occurs once, or set replace_all.`;
    }
    case "absent":
      return `${name} does not occur in ${path} (0 matches). ${describeNearest(text, old)}`;
  }
}

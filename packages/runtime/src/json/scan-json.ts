/** The outline of the first list or object of a text that is not JSON. */
export type JsonOutline =
  /** Every bracket and string is closed: a slip of notation that a repair may put right. `end` is the place behind the value. */
  | { readonly type: "closed"; readonly end: number }
  /** A string, comment or bracket is open at the end. */
  | { readonly type: "truncated" }
  /** A repair would have to guess what was meant. */
  | { readonly type: "ambiguous"; readonly message: string };

const CLOSER: { readonly [opener: string]: string } = { "{": "}", "[": "]" };

/**
 * Walks over a value that is something like JSON, in all the dialects that a repair understands (single quotes, comments, bare words),
 * and says whether it is complete. In doubt the value is not `closed`. Stops behind the value.
 */
export function scanJson(text: string): JsonOutline {
  const open: string[] = [];
  // The last character that is neither space nor comment; a string counts as its closing quote.
  let last = "";
  let index = 0;
  let ambiguous: string | undefined;
  while (index < text.length) {
    const char = text[index] ?? "";
    if (char === '"' || char === "'" || char === "`") {
      const end = endOfString(text, index + 1, char);
      if (end === -1) return { type: "truncated" };
      index = end + 1;
      last = char;
      if (/[\p{L}\p{N}_$\\]/u.test(text[index] ?? "")) ambiguous ??= `a ${char} inside a string is not escaped, near ${excerpt(text, end)}`;
      continue;
    }
    if (char === "/" && (text[index + 1] === "/" || text[index + 1] === "*")) {
      const line = text[index + 1] === "/";
      const end = text.indexOf(line ? "\n" : "*/", index + 2);
      if (end === -1) return { type: "truncated" };
      index = end + (line ? 1 : 2);
      continue;
    }
    if (char === "." && text.startsWith("...", index))
      ambiguous ??= `"..." stands where a value was left out, near ${excerpt(text, index)}`;
    if (char === "{" || char === "[") {
      open.push(CLOSER[char] ?? "");
    } else if (char === "}" || char === "]") {
      if (last === ":") ambiguous ??= `a value is missing after ":", near ${excerpt(text, index)}`;
      if (open.pop() !== char) ambiguous ??= `"${char}" closes nothing, near ${excerpt(text, index)}`;
      if (open.length === 0)
        return ambiguous === undefined ? { type: "closed", end: index + 1 } : { type: "ambiguous", message: ambiguous };
    } else if (char === "," && last === ":") {
      ambiguous ??= `a value is missing after ":", near ${excerpt(text, index)}`;
    }
    if (!/\s/.test(char)) last = char;
    index++;
  }
  return { type: "truncated" };
}

function endOfString(text: string, from: number, quote: string): number {
  for (let index = from; index < text.length; index++) {
    if (text[index] === "\\") index++;
    else if (text[index] === quote) return index;
  }
  return -1;
}

function excerpt(text: string, index: number): string {
  return JSON.stringify(text.slice(Math.max(0, index - 15), index + 15));
}

import type { TextFilter } from "./text-filter.ts";

/** Finds the texts that hold none of some fixed texts. @returns `undefined` if there are no fixed texts */
export function createLiteralFilter(literals: readonly string[], caseInsensitive: boolean): TextFilter | undefined {
  const isAscii = literals.every((text) => Buffer.byteLength(text) === text.length);
  // The other case of a letter beyond ASCII may have another number of bytes.
  if (literals.length === 0 || (caseInsensitive && !isAscii)) return undefined;
  const shortest = Math.min(...literals.map((text) => text.length));
  const [only] = literals;
  if (literals.length === 1 && only !== undefined && !caseInsensitive) {
    const wanted = Buffer.from(only);
    return { isIn: (bytes) => bytes.includes(wanted), isAscii, shortest };
  }
  // A character of this pattern is one byte. It has no repetition, so that its time is in proportion to the text.
  const pattern = new RegExp(literals.map((text) => inBytes(text, caseInsensitive)).join("|"));
  return { isIn: (bytes) => pattern.test(bytes.toString("latin1")), isAscii, shortest };
}

function inBytes(text: string, caseInsensitive: boolean): string {
  return [...Buffer.from(text).toString("latin1")].map((byte) => (caseInsensitive ? bothCases(byte) : escaped(byte))).join("");
}

/** Unicode has two more letters whose other case is ASCII: the long s and the sign of Kelvin. */
function bothCases(letter: string): string {
  const lower = letter.toLowerCase();
  if (lower < "a" || lower > "z") return escaped(letter);
  const cases = `[${lower}${letter.toUpperCase()}]`;
  return lower === "s" ? `(?:${cases}|\\xc5\\xbf)` : lower === "k" ? `(?:${cases}|\\xe2\\x84\\xaa)` : cases;
}

function escaped(byte: string): string {
  return `\\x${byte.charCodeAt(0).toString(16).padStart(2, "0")}`;
}

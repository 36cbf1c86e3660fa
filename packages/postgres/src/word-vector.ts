import { SHORTEST_BEGINNING } from "keelson/state/kit";
import { indexedWords } from "./indexed-words.ts";

/** A vector holds 1 MiB with the places of its words. What comes behind is kept, and not found. */
const MOST_TEXT = 128 * 1024;
/** A word of a vector has up to 2 KB. Longer ones are found by how they begin. */
const LONGEST_WORD = 200;

/** The words of a text with their places, as a `tsvector` is written: made here, since a parser of the database goes by its locale and its own rules. */
export function wordVector(text: string): string {
  return wordsIn(text.slice(0, MOST_TEXT))
    .map((word, index) => `${word}:${index + 1}`)
    .join(" ");
}

/** A `tsquery` for all the words of a query, or the first so many; "" where it has none. */
export function wordQuery(query: string, most?: number): string {
  return allOf(
    [...new Set(wordsIn(query.slice(0, MOST_TEXT)))]
      .slice(0, most)
      .map((word) => `'${word}'${word.length < SHORTEST_BEGINNING ? "" : ":*"}`),
  );
}

/** In pairs of pairs: as one row of many words it would be nested as deeply, for which the database has no room. */
function allOf(parts: readonly string[]): string {
  if (parts.length < 2) return parts[0] ?? "";
  const middle = parts.length >> 1;
  return `(${allOf(parts.slice(0, middle))} & ${allOf(parts.slice(middle))})`;
}

function wordsIn(text: string): readonly string[] {
  const words = indexedWords(text);
  return words === ""
    ? []
    : words.split(" ").map((word) => (word.length > LONGEST_WORD ? word.slice(0, LONGEST_WORD).toWellFormed() : word));
}

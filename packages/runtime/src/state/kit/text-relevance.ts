/** A word of so many letters also stands for those that begin with it. */
export const SHORTEST_BEGINNING = 3;

/** What a text of usual length has. */
const USUAL_WORDS = 100;

/**
 * How well a text fits words of a query, as `wordsOf` gives them: from 0, where it lacks one of them, to 1. For who searches by reading,
 * where an index would judge by what is rare, too.
 */
export function textRelevance(text: string, words: readonly string[]): number {
  const wanted = words.map(folded);
  const counts = wanted.map(() => 0);
  let length = 0;
  for (const [word] of folded(text).matchAll(/[\p{L}\p{N}]+/gu)) {
    length++;
    for (const [index, want] of wanted.entries())
      if (word === want || (want.length >= SHORTEST_BEGINNING && word.startsWith(want))) counts[index] = (counts[index] ?? 0) + 1;
  }
  if (wanted.length === 0 || counts.includes(0)) return 0;
  // As in BM25: what is said again counts less each time, and more in a short text.
  const dampening = 0.3 + (0.9 * length) / USUAL_WORDS;
  return counts.reduce((sum, count) => sum + count / (count + dampening), 0) / wanted.length;
}

/** Without case and accents. */
function folded(text: string): string {
  return text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
}

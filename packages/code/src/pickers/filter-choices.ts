/** The searched texts of a choice. */
export interface Searched {
  /** A short text, in which letters may be left out. */
  readonly label: string;
  /** More text, in which each word of the search must occur as it is typed. */
  readonly words?: string | undefined;
}

/**
 * Returns the choices that fit what was typed, the best first; equally good ones in the order in which they were given. Each word of the search has to
 * be found: in the label also with letters left out, in the rest of the text whole.
 */
export function filterChoices<T extends Searched>(choices: readonly T[], typed: string): readonly T[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return choices;
  const found: { readonly choice: T; readonly score: number }[] = [];
  for (const choice of choices) {
    const label = choice.label.toLowerCase();
    const text = (choice.words ?? "").toLowerCase();
    const scores = words.map((word) => scoreOf(word, label, text));
    if (scores.every((score) => score !== undefined)) found.push({ choice, score: scores.reduce((sum, score) => sum + score, 0) });
  }
  return found.toSorted((a, b) => b.score - a.score).map(({ choice }) => choice);
}

const WHOLE_LABEL = 8;
const BEGINS_LABEL = 6;
const BEGINS_WORD = 5;
const IN_LABEL = 4;
const IN_TEXT = 2;
const SCATTERED = 1;

/** @returns `undefined` if the word is not found */
function scoreOf(word: string, label: string, text: string): number | undefined {
  const at = label.indexOf(word);
  if (at === 0) return label === word ? WHOLE_LABEL : BEGINS_LABEL;
  if (at > 0) return beginsWord(word, label) ? BEGINS_WORD : IN_LABEL;
  if (text.includes(word)) return IN_TEXT;
  return isScattered(word, label) ? SCATTERED : undefined;
}

function beginsWord(word: string, label: string): boolean {
  for (let at = label.indexOf(word); at >= 0; at = label.indexOf(word, at + 1)) if (/[\s/._:-]/.test(label[at - 1] ?? "")) return true;
  return false;
}

/** True if the letters of a word occur in a text in this order. */
function isScattered(word: string, text: string): boolean {
  let at = 0;
  for (const letter of word) {
    const next = text.indexOf(letter, at);
    if (next < 0) return false;
    at = next + letter.length;
  }
  return true;
}

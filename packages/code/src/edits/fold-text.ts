/**
 * Differences that two texts may have and still count as the same, each step with those before it: only in line ends, in blanks at the ends of lines,
 * in characters that look alike, or in the composition of Unicode characters.
 */
export const FOLDS = ["line-ends", "trailing-blanks", "look-alikes", "unicode-forms"] as const;
export type Fold = (typeof FOLDS)[number];

/** A text in the form in which texts are compared. */
export interface FoldedText {
  readonly text: string;
  /** The place in the given text at which the character at a place of the folded one begins; -1 within the replacement of one character. */
  startOf(place: number): number;
  /** The place in the given text at which the character before a place of the folded one ends; -1 as above. */
  endOf(place: number): number;
}

const LOOK_ALIKES: readonly (readonly [like: string, characters: RegExp])[] = [
  ["'", /[\u2018\u2019\u201a\u201b\u2032\u02bc\uff07]/],
  ['"', /[\u201c\u201d\u201e\u201f\u2033\uff02]/],
  ["-", /[\u2010-\u2015\u2212\ufe58\ufe63\uff0d]/],
  [" ", /[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]/],
  ["...", /\u2026/],
];
const INVISIBLE = /[\u00ad\u200b-\u200d\u2060\ufeff]/;

/** Returns the character that the given one looks like: itself if there is none, and nothing for an invisible one. */
function lookAlike(character: string): string {
  if (character < "\u0080") return character;
  if (INVISIBLE.test(character)) return "";
  const found = LOOK_ALIKES.find(([, characters]) => characters.test(character));
  if (found !== undefined) return found[0];
  const code = character.charCodeAt(0);
  return code >= 0xff01 && code <= 0xff5e ? String.fromCharCode(code - 0xfee0) : character;
}

// A letter with its marks, or syllables of Korean that are written as letters.
const CLUSTERS = /[\u1100-\u11ff\ua960-\ua97f\ud7b0-\ud7ff]+|\r\n|[^\p{M}]\p{M}*|\p{M}+/gsu;

/** @param returnsEnd true if a carriage return alone ends a line */
export function foldText(text: string, fold: Fold, returnsEnd: boolean = false): FoldedText {
  const level = FOLDS.indexOf(fold);
  const hasOther = /[^\x00-\x7f]/.test(text); // eslint-disable-line no-control-regex
  const hasReturns = returnsEnd || text.includes("\r\n");
  const dropsBlanks = level >= 1 && /[ \t\u00a0\u200b\ufeff](?:[\r\n]|$)/.test(text);
  if (!hasReturns && !dropsBlanks && (level < 2 || !hasOther)) return { text, startOf: (place) => place, endOf: (place) => place };

  const pieces: string[] = [];
  const starts: number[] = [];
  const ends: number[] = [];
  const add = (folded: string, start: number, end: number): void => {
    for (let unit = 0; unit < folded.length; unit++) {
      starts.push(unit === 0 ? start : -1);
      ends.push(unit === folded.length - 1 ? end : -1);
    }
    pieces.push(folded);
  };
  const lineEnd = returnsEnd ? /\r/g : /\r?\n/g;
  let from = 0;
  const addLine = (to: number): void => {
    const line = text.slice(from, to);
    const kept = level === 0 ? line : level === 1 ? line.replace(/[ \t]+$/, "") : line.replace(/[\s\u200b\ufeff]+$/u, "");
    if (level < 2 || !hasOther) {
      for (let unit = 0; unit < kept.length; unit++) {
        starts.push(from + unit);
        ends.push(from + unit + 1);
      }
      pieces.push(kept);
      return;
    }
    let at = from;
    const clusters = level === 2 ? kept : (kept.match(CLUSTERS) ?? []);
    for (const cluster of clusters) {
      const composed = level === 2 ? cluster : cluster.normalize("NFC");
      let folded = "";
      for (const character of composed) folded += lookAlike(character);
      add(folded, at, at + cluster.length);
      at += cluster.length;
    }
  };
  for (const { index, 0: end } of text.matchAll(lineEnd)) {
    addLine(index);
    add("\n", index, index + end.length);
    from = index + end.length;
  }
  addLine(text.length);
  const folded = pieces.join("");
  return {
    text: folded,
    startOf: (place) => (place === folded.length ? text.length : (starts[place] as number)),
    endOf: (place) => (place === 0 ? 0 : (ends[place - 1] as number)),
  };
}

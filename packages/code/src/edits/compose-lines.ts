import { alignLines, changedLines } from "./align-lines.ts";
import { type Fold, foldText } from "./fold-text.ts";
import type { LineEnd } from "./line-ends.ts";
import { changeLine } from "./merge-line.ts";

/** The lines of a file that were found for the lines of an old text, one for one. The first and the last may be parts of lines. */
export interface FoundLines {
  readonly lines: readonly string[];
  /** The ends of all lines but the last. */
  readonly ends: readonly LineEnd[];
}

export interface Composition {
  readonly found: FoundLines;
  readonly old: readonly string[];
  readonly wanted: readonly string[];
  /** The differences that are allowed between the found lines and the old ones. */
  readonly fold: Fold;
  /** The line end of lines that are new. */
  readonly usualEnd: LineEnd;
}

/**
 * Makes the change from the old lines to the new ones in the found lines. Lines that the change keeps stay as they are in the file, with their ends;
 * of a changed line only the changed part is replaced.
 */
export function composeLines({ found, old, wanted, fold, usualEnd }: Composition): string {
  const end = found.ends.length > 0 && found.ends.every((each) => each === found.ends[0]) ? (found.ends[0] as LineEnd) : usualEnd;
  const lines = [...wanted];
  const ends: LineEnd[] = wanted.map(() => end);
  const isSame = old.every((line, index) => line === found.lines[index]);
  const adapt = isSame ? (text: string) => text : plainCharacters(found.lines, old, fold);
  const pairs = alignLines(old, wanted);
  const take = (before: number, after: number): void => {
    ends[after] = found.ends[before] ?? end;
  };
  for (const [before, after] of pairs) {
    lines[after] = found.lines[before] as string;
    take(before, after);
  }
  for (const { before, after } of changedLines(pairs, old.length, wanted.length)) {
    const isOneForOne = before[1] - before[0] === after[1] - after[0];
    for (let offset = 0; offset < after[1] - after[0]; offset++) {
      const [from, to] = [before[0] + offset, after[0] + offset];
      if (isOneForOne) {
        lines[to] = changeLine(found.lines[from] as string, old[from] as string, wanted[to] as string, fold, adapt);
        take(from, to);
      } else {
        lines[to] = adapt(wanted[to] as string);
      }
    }
  }
  return lines.map((line, index) => (index === lines.length - 1 ? line : line + (ends[index] as LineEnd))).join("");
}

/**
 * Returns a function that writes characters the way the file does if the old text had typographic ones where the file has plain ones: the model
 * changed them all, also in what it puts in.
 */
function plainCharacters(lines: readonly string[], old: readonly string[], fold: Fold): (text: string) => string {
  if (fold !== "look-alikes" && fold !== "unicode-forms") return (text) => text;
  const plain = new Map<string, string | undefined>();
  for (const [index, line] of old.entries()) {
    if (!/[^\x00-\x7f]/.test(line)) continue; // eslint-disable-line no-control-regex
    const [given, there] = [foldText(line, fold), foldText(lines[index] as string, fold)];
    if (given.text !== there.text) continue;
    for (let place = 0; place < given.text.length; place++) {
      const from = given.startOf(place);
      if (from === -1 || there.startOf(place) === -1) continue;
      let to = place + 1;
      while (to < given.text.length && (given.endOf(to) === -1 || there.endOf(to) === -1)) to++;
      const [character, actual] = [
        line.slice(from, given.endOf(to)),
        (lines[index] as string).slice(there.startOf(place), there.endOf(to)),
      ];
      if (character < "\u0080") continue;
      plain.set(character, plain.has(character) && plain.get(character) !== actual ? undefined : actual);
    }
  }
  return (text) =>
    // eslint-disable-next-line no-control-regex
    text.replace(/[^\x00-\x7f]/gu, (character) => {
      const found = plain.get(character);
      return found !== undefined && found < "\u0080" ? found : character;
    });
}

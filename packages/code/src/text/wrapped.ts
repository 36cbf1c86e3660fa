import { stripVTControlCharacters } from "node:util";
import { displayWidth, firstGrapheme, fitting } from "./display-width.ts";

/** Returns rows of at most `columns`, broken at spaces if there are any. */
export function wrapped(line: string, columns: number): string[] {
  const rows: string[] = [];
  let rest = line;
  for (;;) {
    const full = fitting(rest, columns);
    if (full.length === rest.length) return [...rows, rest];
    // A row takes at least one grapheme, however narrow the terminal is.
    const hard = full === "" ? firstGrapheme(rest) : full;
    const space = rest.charAt(hard.length) === " " ? hard.length : hard.lastIndexOf(" ");
    const row = space > columns / 3 ? rest.slice(0, space) : hard;
    rows.push(row);
    rest = rest.slice(row.length);
    if (rest.startsWith(" ")) rest = rest.slice(1);
    else if (rest === "") return rows;
  }
}

/** The indentation of a line with the mark, and the number before it, that its text follows. */
const MARK = /^ *(?:\d+ +(?=[–✔✗] ))?(?:[-*•–✔✗●!?›·│] +)?/u;
// oxlint-disable-next-line no-control-regex -- the dot may have a colour
const LAST_DOT = / ((?:\u001b\[[\d;]*m)*)·((?:\u001b\[[\d;]*m)*)$/;
// oxlint-disable-next-line no-control-regex -- see above
const FIRST_DOT = /^( *)((?:\u001b\[[\d;]*m)*)·((?:\u001b\[[\d;]*m)*) /;

/**
 * Returns rows of a line that is painted, broken only at spaces: a word that is longer than a row, such as a token to copy, is wrapped by the
 * terminal. Rows after the first begin below the text of the first, behind its indentation and its mark. A dot between two facts is not shown where
 * a row ends or begins.
 */
export function softWrapped(line: string, columns: number): string[] {
  if (paintedWidth(line) <= columns) return [line];
  const indent = " ".repeat(displayWidth(MARK.exec(stripVTControlCharacters(line))?.[0] ?? ""));
  const rows: string[] = [];
  const [first = "", ...words] = line.split(" ");
  let row = first;
  let width = paintedWidth(first);
  for (const word of words) {
    const added = paintedWidth(word);
    if (width > indent.length && width + 1 + added > columns) {
      rows.push(row.replace(LAST_DOT, "$1$2"));
      row = indent + word;
      width = indent.length + added;
    } else {
      row = `${row} ${word}`;
      width += 1 + added;
    }
  }
  return [...rows, row].map((text, index) => (index === 0 ? text : text.replace(FIRST_DOT, "$1$2$3")));
}

/** Returns the columns of a line whose colours take none. */
export function paintedWidth(line: string): number {
  return displayWidth(stripVTControlCharacters(line));
}

import { stripVTControlCharacters } from "node:util";
import { displayWidth, fitting } from "./display-width.ts";

/** Rows of at most `columns`, broken at spaces where there are any. */
export function wrapped(line: string, columns: number): string[] {
  const rows: string[] = [];
  let rest = line;
  while (rest.length * 2 > columns && displayWidth(rest) > columns) {
    const full = fitting(rest, columns);
    // A row takes at least one character, however narrow the terminal is.
    const hard = full === "" ? rest.slice(0, 1) : full;
    const space = rest.charAt(hard.length) === " " ? hard.length : hard.lastIndexOf(" ");
    const row = space > columns / 3 ? rest.slice(0, space) : hard;
    rows.push(row);
    rest = rest.slice(row.length);
    if (rest.startsWith(" ")) rest = rest.slice(1);
  }
  rows.push(rest);
  return rows;
}

/**
 * The same for a line that is painted, and only at spaces: what is longer than a row, such as a token to copy, is left to the
 * terminal. Rows after the first stand as far in as it does.
 */
export function softWrapped(line: string, columns: number): string[] {
  if (paintedWidth(line) <= columns) return [line];
  const indent = /^ */.exec(stripVTControlCharacters(line))?.[0] ?? "";
  const rows: string[] = [];
  const [first = "", ...words] = line.split(" ");
  let row = first;
  let width = paintedWidth(first);
  for (const word of words) {
    const added = paintedWidth(word);
    if (width > indent.length && width + 1 + added > columns) {
      rows.push(row);
      row = indent + word;
      width = indent.length + added;
    } else {
      row = `${row} ${word}`;
      width += 1 + added;
    }
  }
  return [...rows, row];
}

function paintedWidth(text: string): number {
  return displayWidth(stripVTControlCharacters(text));
}

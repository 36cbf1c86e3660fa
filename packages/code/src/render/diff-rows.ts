import type { StructuredPatchHunk } from "diff";
import type { Row } from "../markdown/span.ts";
import { printable } from "../text/printable.ts";

/** A line of a diff before it is painted. */
export interface DiffRow {
  /** `@` for the gap between hunks, `*` for a line that names a file or a place. */
  readonly sign: " " | "+" | "-" | "@" | "*";
  /** Its number, on the old side for a removed line, else on the new one. */
  readonly number?: number;
  /** Text without control characters. */
  readonly text: string;
  /** The text with the words that changed. */
  readonly marked?: Row;
}

const GAP: DiffRow = { sign: "@", text: "" };

type Hunk = Pick<StructuredPatchHunk, "oldStart" | "newStart" | "lines">;

export function rowsOfHunks(hunks: readonly Hunk[], { numbers }: { readonly numbers: boolean }): DiffRow[] {
  return hunks.flatMap((hunk, index) => [...(index > 0 ? [GAP] : []), ...rowsOfHunk(hunk, numbers)]);
}

function rowsOfHunk({ oldStart, newStart, lines }: Hunk, numbers: boolean): DiffRow[] {
  let oldLine = oldStart;
  let newLine = newStart;
  return lines.flatMap((line) => {
    const sign = line.charAt(0);
    if (sign === "\\") return [];
    const text = shownText(line.slice(1));
    const number = sign === "-" ? oldLine : newLine;
    if (sign !== "+") oldLine += 1;
    if (sign !== "-") newLine += 1;
    return [{ sign: sign === "+" || sign === "-" ? sign : " ", text, ...(numbers ? { number } : {}) }];
  });
}

/** The rows of a unified diff. A line outside of its hunks, such as a note or the name of a file, is a row of its own. */
export function rowsOfPatch(patch: string): DiffRow[] {
  const rows: DiffRow[] = [];
  let hunk: { readonly oldStart: number; readonly newStart: number; readonly lines: string[] } | undefined;
  let oldLeft = 0;
  let newLeft = 0;
  const endHunk = (): void => {
    if (hunk !== undefined) rows.push(...(rows.length > 0 && rows.at(-1)?.sign !== "*" ? [GAP] : []), ...rowsOfHunk(hunk, true));
    hunk = undefined;
  };
  for (const line of patch.trimEnd().split("\n")) {
    const header = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(line);
    // An editor may have removed the space of an empty line.
    const sign = line === "" ? " " : line.charAt(0);
    const isRemoved = (sign === "-" || sign === " ") && oldLeft > 0;
    const isAdded = (sign === "+" || sign === " ") && newLeft > 0;
    if (header !== null) {
      endHunk();
      hunk = { oldStart: Number(header[1]), newStart: Number(header[3]), lines: [] };
      oldLeft = Number(header[2] ?? 1);
      newLeft = Number(header[4] ?? 1);
    } else if (hunk !== undefined && (isRemoved || isAdded)) {
      hunk.lines.push(line === "" ? " " : line);
      if (isRemoved) oldLeft -= 1;
      if (isAdded) newLeft -= 1;
    } else if (line !== "" && sign !== "\\") {
      endHunk();
      rows.push({ sign: "*", text: shownText(line) });
    }
  }
  endHunk();
  return rows;
}

/** The rows of a patch as a model wrote it, with every line of it. */
export function rowsOfPatchText(patch: string): DiffRow[] {
  return patch
    .trim()
    .split(/\r?\n/)
    .map((line, index, lines) => {
      const sign = line.charAt(0);
      // A removed line may begin with two minuses itself; only the pair names files.
      const isName = /^--- /.test(line)
        ? /^\+\+\+ /.test(lines[index + 1] ?? "")
        : /^\+\+\+ /.test(line) && /^--- /.test(lines[index - 1] ?? "");
      if (isName || /^(?:\*\*\*|@@|diff |index )/.test(line)) return { sign: "*", text: shownText(line) };
      return sign === "+" || sign === "-" || sign === " " ? { sign, text: shownText(line.slice(1)) } : { sign: " ", text: shownText(line) };
    });
}

/** The file that a line of a patch names; `undefined` if it names none. */
export function patchedFile({ sign, text }: DiffRow): string | undefined {
  if (sign !== "*") return undefined;
  return (
    /^\*\*\* (?:Update|Add|Delete) File: (.+)$/.exec(text)?.[1] ??
    /^\+\+\+ (?:b\/)?([^\t]+)/.exec(text)?.[1] ??
    /^(?:Updated|Made|Moved .+ to) (.+?)\.$/.exec(text)?.[1]
  );
}

function shownText(line: string): string {
  return printable(line.replace(/\r$/, "")).replace(/\t/g, "  ");
}

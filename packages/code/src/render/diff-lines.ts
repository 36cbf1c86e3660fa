import { structuredPatch } from "diff";
import { languageOfFile } from "../markdown/code-languages.ts";
import type { CodeHighlight, CodePainter } from "../markdown/highlight-code.ts";
import { paintRow } from "../markdown/paint-rows.ts";
import type { Look, Row } from "../markdown/span.ts";
import { createTheme, type Theme } from "../markdown/theme.ts";
import { breakRow, cutRows, rowWidth } from "../markdown/wrap-spans.ts";
import type { Style } from "../text/style.ts";
import { ADDED, isChangedWord, markChangedWords, REMOVED } from "./changed-words.ts";
import { type DiffRow, patchedFile, rowsOfHunks, rowsOfPatch, rowsOfPatchText } from "./diff-rows.ts";
import { foldNote, type KeepFolded } from "./fold-lines.ts";

export interface DiffOptions {
  readonly style: Style;
  readonly columns: number;
  readonly context?: number;
  readonly maxLines?: number;
  /** Lines that are too wide go on in the next row, instead of being cut. */
  readonly whole?: boolean;
  /** True if both texts are whole files, so that their lines have numbers. Default false. */
  readonly numbers?: boolean;
  /** Default: the colours of the terminal, or none, as `style` has it. */
  readonly theme?: Theme | undefined;
  /** Colours for the lines of a file that are no change, and for those of a new file. */
  readonly highlight?: CodeHighlight | undefined;
  /** The file; its name decides the language. */
  readonly path?: string | undefined;
  /** Keeps the whole diff if lines of it are left out. */
  readonly keep?: KeepFolded | undefined;
}

/** Changed lines beyond which texts are not compared, which takes quadratic time: one is removed and the other added. */
const MAX_EDITS = 1_000;

const LOOKS: { readonly [sign in DiffRow["sign"]]: Look } = {
  "+": ADDED,
  "-": REMOVED,
  " ": { role: "faint" },
  "@": { role: "faint" },
  "*": { bold: true },
};
const FAINT = LOOKS[" "];

/** Returns the changes between two texts as coloured lines with `-` and `+`. A line of dots separates hunks. */
export function diffLines(before: string, after: string, { context = 1, ...options }: DiffOptions): string[] {
  const isCompared = before !== "" && after !== "";
  const patch = isCompared ? structuredPatch("", "", before, after, "", "", { context, maxEditLength: MAX_EDITS }) : undefined;
  const hunks = patch?.hunks ?? [{ oldStart: 1, newStart: 1, lines: [...signed("-", before), ...signed("+", after)] }];
  return paintedLines(rowsOfHunks(hunks, { numbers: options.numbers === true }), options);
}

/** The lines of a unified diff without file names, coloured and with their numbers. */
export function patchLines(patch: string, options: DiffOptions): string[] {
  return paintedLines(rowsOfPatch(patch), options);
}

/** A patch as a model wrote it, coloured. */
export function patchTextLines(patch: string, options: DiffOptions): string[] {
  return paintedLines(rowsOfPatchText(patch), options);
}

/** The line between hunks. */
export function hunkLine({ style }: Pick<DiffOptions, "style">): string {
  return style.dim("  ⋮");
}

function paintedLines(rows: readonly DiffRow[], options: DiffOptions): string[] {
  const { style, columns, maxLines = 60, whole = false, keep, theme = createTheme(style.colors ? "ansi" : "none") } = options;
  const digits = rows.reduce((most, { number }) => Math.max(most, String(number ?? "").length), 0);
  const gutter = digits === 0 ? 0 : digits + 1;
  const width = Math.max(4, columns - gutter - 2);
  const paint = ({ row, code }: ColouredRow): string[] => {
    if (row.sign === "@") return [`${" ".repeat(gutter)}${hunkLine({ style })}`];
    const parts = whole || hidesChange(row, width) ? brokenRow(code, width) : [shortened(code, width)];
    return parts.map((part, index) =>
      paintRow(
        [
          ...(gutter === 0 ? [] : [{ text: `${(index === 0 ? String(row.number ?? "") : "").padStart(digits)} `, look: FAINT }]),
          { text: index === 0 && row.sign !== "*" ? `${row.sign} ` : "  ", look: LOOKS[row.sign] },
          ...part,
        ],
        theme,
      ),
    );
  };
  const coloured = colouredRows(markChangedWords(rows), options);
  const painted: string[] = [];
  let seen = 0;
  for (const row of coloured) {
    // A file can have a million lines. Lines that cannot be opened are only counted.
    if (keep === undefined && painted.length > maxLines + 1) break;
    painted.push(...paint(row));
    seen += 1;
  }
  if (painted.length <= maxLines + 1) return painted;
  const left = painted.length - maxLines + coloured.length - seen;
  return [...painted.slice(0, maxLines), style.dim(foldNote(left, keep?.(painted)))];
}

interface ColouredRow {
  readonly row: DiffRow;
  readonly code: Row;
}

/** The code of each row. Changed lines show the change; all others, and a file that is new, the language. */
function colouredRows(rows: readonly DiffRow[], { highlight, path }: DiffOptions): ColouredRow[] {
  const isNew = !rows.some(({ sign }) => sign === "-" || sign === " ");
  let file = path;
  let painter: CodePainter | undefined;
  const restart = (): void => {
    const language = file === undefined ? undefined : languageOfFile(file);
    // The painter of a language that is not loaded yet loads it for the next diff.
    const wanted = language === undefined ? undefined : highlight?.painter(language.name);
    painter = language !== undefined && highlight?.isLoaded(language.name) === true ? wanted : undefined;
  };
  restart();
  return rows.map((row) => {
    if (row.sign === "*" || row.sign === "@") {
      file = patchedFile(row) ?? file;
      restart();
    }
    const plain: Row = [{ text: row.text, look: LOOKS[row.sign] }];
    // Lines of the old side would confuse the state of the new one.
    const code = row.sign === " " || row.sign === "+" ? painter?.paint(row.text) : undefined;
    if (row.sign === "+" && !isNew) return { row, code: row.marked ?? plain };
    return { row, code: row.marked ?? code ?? plain };
  });
}

/** True if a changed word of the row is beyond so many columns: cut there, the lines before and after would look the same. */
function hidesChange({ marked = [] }: DiffRow, columns: number): boolean {
  const last = marked.findLastIndex(({ look }) => isChangedWord(look));
  return last >= 0 && rowWidth(marked.slice(0, last + 1)) > columns - 1 && rowWidth(marked) > columns;
}

function shortened(row: Row, columns: number): Row {
  if (rowWidth(row) <= columns) return row;
  const [first = []] = cutRows([row], columns - 1);
  return [...first, { text: "…", look: first.at(-1)?.look ?? FAINT }];
}

/** The rows of a line. The space at which a row breaks is not seen, so it is dropped there. */
function brokenRow(code: Row, width: number): Row[] {
  const rows = breakRow(code, width);
  return rows.map((row, index) => {
    const last = row.at(-1);
    return last === undefined || index === rows.length - 1 ? row : [...row.slice(0, -1), { ...last, text: last.text.replace(/ $/, "") }];
  });
}

function signed(sign: string, text: string): string[] {
  const lines = text.replace(/\n$/, "").split("\n");
  return text === "" ? [] : lines.map((line) => sign + line);
}

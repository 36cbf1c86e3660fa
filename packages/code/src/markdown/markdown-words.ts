import type { LiveRoom, LiveRows } from "../terminal/live-part.ts";
import { createBlockCutter } from "./block-cutter.ts";
import type { CodeHighlight } from "./highlight-code.ts";
import { createLineReader } from "./line-reader.ts";
import { paintRows } from "./paint-rows.ts";
import { FIRST_PIECE, type PieceState, renderPieces } from "./render-pieces.ts";
import type { Theme } from "./theme.ts";
import type { Words } from "./words.ts";
import { cutRows } from "./wrap-spans.ts";

export interface MarkdownOptions {
  readonly theme: Theme;
  readonly highlight: CodeHighlight;
  /** True if the terminal opens hyperlinks (OSC 8). Default false: addresses are shown in the text. */
  readonly hyperlinks?: boolean;
}

/** Markdown as it streams. Pieces become final as soon as nothing after them can change them; each is rendered once. */
export function createMarkdownWords({ theme, highlight, hyperlinks = false }: MarkdownOptions): Words {
  const options = { marks: theme.marks, hyperlinks, highlight };
  let reader = createLineReader();
  let cutter = createBlockCutter();
  let state: PieceState = FIRST_PIECE;
  let drawn: { readonly columns: number; readonly lines: readonly string[] } | undefined;

  function finish(lines: readonly string[], columns: number): string[] {
    const finished = renderPieces(
      lines.flatMap((line) => cutter.take(line)),
      state,
      { ...options, columns },
    );
    state = finished.state;
    return paintRows(finished.rows, theme);
  }

  function reset(): void {
    reader = createLineReader();
    cutter = createBlockCutter();
    state = FIRST_PIECE;
    drawn = undefined;
  }

  function openLines(columns: number): readonly string[] {
    const { rows } = renderPieces(cutter.peek(reader.open()), state, { ...options, columns, isOpen: true });
    return paintRows(cutRows(rows, columns), theme);
  }

  return {
    push(delta, columns) {
      drawn = undefined;
      const lines = reader.push(delta);
      return lines.length === 0 ? [] : finish(lines, columns);
    },
    end(columns) {
      const lines = finish(reader.end(), columns);
      const rest = renderPieces(cutter.end(), state, { ...options, columns });
      reset();
      return [...lines, ...paintRows(rest.rows, theme)];
    },
    drop: reset,
    rows({ columns, rows }: LiveRoom): LiveRows {
      if (drawn?.columns !== columns) drawn = { columns, lines: openLines(columns) };
      return { lines: rows <= 0 ? [] : drawn.lines.slice(-rows) };
    },
  };
}

/** The lines of a whole Markdown text. */
export function markdownLines(text: string, columns: number, options: MarkdownOptions): string[] {
  const words = createMarkdownWords(options);
  return [...words.push(text, columns), ...words.end(columns)];
}

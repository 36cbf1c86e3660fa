import type { Token, Tokens } from "marked";
import type { Piece } from "./block-cutter.ts";
import { closeMarks } from "./close-marks.ts";
import type { CodePainter } from "./highlight-code.ts";
import { lexMarkdown } from "./lex-markdown.ts";
import { type BlockOptions, fenceRow, isTight, renderBlocks, renderList } from "./render-blocks.ts";
import { PLAIN, type Row } from "./span.ts";

/** The state between two pieces. */
export interface PieceState {
  /** The type of the last block; `undefined` at the beginning of a text. */
  readonly before: string | undefined;
  /** The painter of the code that is open. */
  readonly painter: CodePainter | undefined;
}

export interface PieceOptions extends BlockOptions {
  /** True if the text is open, so that its last line may grow and no fence is closed yet. */
  readonly isOpen?: boolean;
}

export const FIRST_PIECE: PieceState = { before: undefined, painter: undefined };

/** The rows of pieces in order, with the state for the next ones. */
export function renderPieces(
  pieces: readonly Piece[],
  state: PieceState,
  options: PieceOptions,
): { readonly rows: Row[]; readonly state: PieceState } {
  const rows: Row[] = [];
  let current = state;
  for (const [index, piece] of pieces.entries()) {
    // Marks that stay in the text are drawn as they come.
    const isGrowing = options.isOpen === true && !options.marks && index === pieces.length - 1;
    const rendered = renderPiece(isGrowing ? closed(piece) : piece, current, options);
    rows.push(...rendered.rows);
    current = rendered.state;
  }
  return { rows, state: current };
}

function renderPiece(piece: Piece, state: PieceState, options: PieceOptions): { readonly rows: Row[]; readonly state: PieceState } {
  const gap = (isApart: boolean, type: string): Row[] =>
    state.before !== undefined && (isApart || !isTight(state.before, type)) ? [[]] : [];
  switch (piece.kind) {
    case "code": {
      const row = options.isOpen === true ? state.painter?.peek(piece.line) : state.painter?.paint(piece.line);
      return { rows: [row ?? [{ text: piece.line, look: PLAIN }]], state };
    }
    case "fence-end":
      return { rows: options.isOpen === true ? [] : [fenceRow(piece.mark, "")], state: { before: "code", painter: undefined } };
    case "fence": {
      const rows = [...gap(piece.isApart, "code"), fenceRow(piece.mark, piece.info)];
      return { rows, state: { before: "code", painter: options.highlight.painter(piece.info) } };
    }
    case "item": {
      const rows = [...(piece.indent === undefined ? gap(piece.isApart, "list") : []), ...itemRows(piece, options)];
      return { rows, state: { before: "list", painter: undefined } };
    }
    default: {
      const tokens = lexMarkdown(piece.text);
      const blocks = tokens.filter(({ type }) => type !== "space");
      const rows = renderBlocks(tokens, options);
      const before = blocks.at(-1)?.type ?? state.before;
      return {
        rows: [...(piece.continues ? [] : gap(piece.isApart, blocks[0]?.type ?? "text")), ...rows],
        state: { before, painter: undefined },
      };
    }
  }
}

/** The last piece of a text that is open. */
function closed(piece: Piece): Piece {
  return piece.kind === "blocks" || piece.kind === "item" ? { ...piece, text: closeMarks(piece.text) } : piece;
}

function itemRows({ text, number, indent }: Extract<Piece, { readonly kind: "item" }>, options: PieceOptions): Row[] {
  if (indent !== undefined) {
    const space = { text: " ".repeat(indent), look: PLAIN };
    return renderBlocks(lexMarkdown(text), { ...options, columns: options.columns - indent }).map((row) =>
      row.length === 0 ? row : [space, ...row],
    );
  }
  const [list, ...more] = lexMarkdown(text);
  return list !== undefined && isList(list)
    ? [...renderList(list, { ...options, start: number }), ...renderBlocks(more, options)]
    : renderBlocks(lexMarkdown(text), options);
}

function isList(token: Token): token is Tokens.List {
  return token.type === "list";
}

import {
  closesFence,
  type Fence,
  fenceOf,
  indentOf,
  isHeading,
  isRule,
  isUnderline,
  type ListMark,
  listMarkOf,
  startsHtml,
} from "./line-marks.ts";

/** A part of a Markdown text that nothing after it can change. */
export type Piece =
  /** Blocks between empty lines. `continues` is true if the piece before it is the beginning of the same block, which was too long. */
  | { readonly kind: "blocks"; readonly text: string; readonly isApart: boolean; readonly continues: boolean }
  /** One item of a list. A part of a long item is indented by `indent` columns. */
  | { readonly kind: "item"; readonly text: string; readonly isApart: boolean; readonly number?: number; readonly indent?: number }
  | { readonly kind: "fence"; readonly mark: string; readonly info: string; readonly isApart: boolean }
  | { readonly kind: "code"; readonly line: string }
  | { readonly kind: "fence-end"; readonly mark: string };

/** Cuts a text into pieces, line by line. The pieces depend on the lines only, and each line is read once. */
export interface BlockCutter {
  /** Takes a whole line. @returns the pieces that it finishes */
  take(line: string): Piece[];
  /** The text is over. @returns the pieces that are left */
  end(): Piece[];
  /** Returns the pieces that would be left if the text ended with this line. */
  peek(line: string): Piece[];
}

const MAX_LINES = 400;
const MAX_LENGTH = 16_000;
const MAX_TABLE_LINES = 100;

interface State {
  mode: "text" | "list" | "fence";
  lines: string[];
  length: number;
  /** True if an empty line precedes the block. */
  isApart: boolean;
  /** Empty lines that belong to the item of a list only if something of it follows. */
  blanks: number;
  /** True if the last line may go on in the next one, so that not every list can begin there. */
  isParagraph: boolean;
  /** The end of HTML or of mathematics that is open; `"blank"` for an empty line. */
  until: RegExp | "blank" | undefined;
  continues: boolean;
  /** True if the lines are no more than the heading of a table that goes on. */
  isRepeated: boolean;
  fence: Fence | undefined;
  item: { readonly mark: ListMark; readonly number: number; readonly isContinued: boolean } | undefined;
}

export function createBlockCutter(): BlockCutter {
  return cutterOf({
    mode: "text",
    lines: [],
    length: 0,
    isApart: false,
    blanks: 0,
    isParagraph: false,
    until: undefined,
    continues: false,
    isRepeated: false,
    fence: undefined,
    item: undefined,
  });
}

function cutterOf(state: State): BlockCutter {
  function take(line: string): Piece[] {
    if (state.mode === "fence") return takeCode(line);
    return state.mode === "list" ? takeListLine(line) : takeTextLine(line);
  }

  function takeCode(line: string): Piece[] {
    const { fence } = state;
    if (fence === undefined) return [];
    if (closesFence(line, fence)) return endFence();
    return [{ kind: "code", line: line.slice(Math.min(fence.indent, indentOf(line))) }];
  }

  function endFence(): Piece[] {
    const mark = state.fence?.mark ?? "";
    state.fence = undefined;
    state.mode = "text";
    return [{ kind: "fence-end", mark }];
  }

  function takeTextLine(line: string): Piece[] {
    if (state.until instanceof RegExp && (line.trim() !== "" || state.until !== MATH_END)) {
      add(line);
      if (state.until.test(line)) state.until = undefined;
      return cutLong();
    }
    if (line.trim() === "") {
      const pieces = endText();
      reset();
      state.isApart = true;
      return pieces;
    }
    if (state.until === "blank") {
      add(line);
      return cutLong();
    }
    const isIndented = indentOf(line) > 3;
    const fence = isIndented ? undefined : fenceOf(line);
    if (fence !== undefined) return startFence(fence);
    const mark = isIndented || isRule(line) ? undefined : listMarkOf(line);
    if (mark !== undefined && (!state.isParagraph || mark.interrupts)) return [...endText(), ...startItem(line, mark, mark.number)];
    return takeText(line, isIndented);
  }

  function takeText(line: string, isIndented: boolean): Piece[] {
    const isFirst = state.lines.length === 0;
    if (!isIndented && (isFirst || startsHtml(line)?.interrupts === true)) state.until = startsHtml(line)?.until ?? mathUntil(line);
    else if (!isIndented) state.until = mathUntil(line);
    add(line);
    if (state.until instanceof RegExp && state.until.test(line.trimStart().slice(2))) state.until = undefined;
    if (!isIndented && (isHeading(line) || isRule(line) || (state.isParagraph && isUnderline(line)))) return endText();
    state.isParagraph = !isIndented || !isFirst;
    return cutLong();
  }

  function startFence(fence: Fence): Piece[] {
    const pieces = endText();
    const { isApart } = state;
    state.mode = "fence";
    state.fence = fence;
    state.isApart = false;
    return [...pieces, { kind: "fence", mark: fence.mark, info: fence.info, isApart }];
  }

  function startItem(line: string, mark: ListMark, number: number): Piece[] {
    state.mode = "list";
    state.item = { mark, number, isContinued: false };
    state.fence = fenceOf(line.slice(mark.offset));
    add(line);
    return [];
  }

  function takeListLine(line: string): Piece[] {
    const { item } = state;
    if (item === undefined) return [];
    if (line.trim() === "") {
      state.blanks += 1;
      return [];
    }
    const isWithin = indentOf(line) >= item.mark.offset;
    const mark = isWithin || isRule(line) ? undefined : listMarkOf(line);
    if (mark !== undefined) {
      const isSibling = mark.kind === item.mark.kind;
      const pieces = endItem();
      // A list whose numbers repeat is counted, as a browser does.
      const number = isSibling && mark.number <= item.number ? item.number + 1 : mark.number;
      return [...pieces, ...startItem(line, mark, number)];
    }
    if (state.fence !== undefined) {
      if (closesFence(line.trimStart(), state.fence)) state.fence = undefined;
      return addToItem(line);
    }
    if (isWithin) {
      state.fence = fenceOf(line.replace(/^ *(?:(?:[-+*]|\d{1,9}[.)]) +)*/, ""));
      return addToItem(line);
    }
    const isNext = state.blanks > 0 || fenceOf(line) !== undefined || isHeading(line) || isRule(line) || /^ {0,3}>/.test(line);
    if (!isNext && startsHtml(line)?.interrupts !== true) return addToItem(line);
    const pieces = endItem();
    return [...pieces, ...takeTextLine(line)];
  }

  function addToItem(line: string): Piece[] {
    for (; state.blanks > 0; state.blanks -= 1) add("");
    add(line);
    if (state.lines.length < MAX_LINES && state.length < MAX_LENGTH) return [];
    const { fence, item } = state;
    const pieces = endItem();
    if (item === undefined) return pieces;
    state.mode = "list";
    state.isApart = false;
    state.item = { ...item, isContinued: true };
    state.fence = fence;
    if (fence !== undefined) add(`${" ".repeat(item.mark.offset)}${fence.mark}${fence.info}`);
    return pieces;
  }

  function endItem(): Piece[] {
    const { item, lines, isApart } = state;
    const hasBlank = state.blanks > 0;
    reset();
    state.isApart = hasBlank;
    if (item === undefined || lines.length === 0) return [];
    const numbered = item.mark.isOrdered ? { number: item.number } : {};
    if (!item.isContinued) return [{ kind: "item", text: lines.join("\n"), isApart, ...numbered }];
    const { offset } = item.mark;
    const text = lines.map((line) => line.slice(Math.min(offset, indentOf(line)))).join("\n");
    return [{ kind: "item", text, isApart, indent: offset }];
  }

  function endText(): Piece[] {
    const { lines, isApart, continues, isRepeated } = state;
    if (lines.length === 0) return [];
    reset();
    return isRepeated ? [] : [{ kind: "blocks", text: lines.join("\n"), isApart, continues }];
  }

  /** Ends a long text where it is, so that no part of it is read without bound. */
  function cutLong(): Piece[] {
    const [first = "", second = ""] = state.lines;
    const isTable = /\|/.test(first + second) && /^[\s|:-]*-[\s|:-]*$/.test(second);
    if (state.lines.length < (isTable ? MAX_TABLE_LINES : MAX_LINES) && state.length < MAX_LENGTH) return [];
    const { until, isParagraph } = state;
    const pieces = endText();
    state.until = until;
    state.isParagraph = isParagraph;
    state.continues = true;
    if (isTable) {
      add(first);
      add(second);
      state.isRepeated = true;
    }
    return pieces;
  }

  function add(line: string): void {
    state.isRepeated = false;
    state.lines.push(line);
    state.length += line.length + 1;
  }

  function reset(): void {
    Object.assign(state, {
      mode: "text",
      lines: [],
      length: 0,
      isApart: false,
      blanks: 0,
      isParagraph: false,
      until: undefined,
      continues: false,
      isRepeated: false,
      fence: undefined,
      item: undefined,
    } satisfies State);
  }

  function end(): Piece[] {
    const pieces = state.mode === "fence" ? endFence() : state.mode === "list" ? endItem() : endText();
    reset();
    return pieces;
  }

  return {
    take,
    end,
    peek(line) {
      const copy = cutterOf({ ...state, lines: [...state.lines] });
      // The beginning of a closing fence would come and go.
      const isClosing = state.mode === "fence" && line !== "" && /^ {0,3}(?:`{1,2}|~{1,2})$/.test(line);
      const pieces = line === "" || isClosing ? [] : copy.take(line);
      return [...pieces, ...copy.end()];
    },
  };
}

const MATH_END = /\$\$|\\\]/;

function mathUntil(line: string): RegExp | undefined {
  return /^ {0,3}(?:\$\$|\\\[)/.test(line) ? MATH_END : undefined;
}

import type { LiveRoom, LiveRows } from "../terminal/live-part.ts";
import { displayWidth, truncated } from "../text/display-width.ts";
import type { Style } from "../text/style.ts";
import type { AreaRows } from "./text-area.ts";

/** The words before the text of a prompt. */
export interface PromptLabel {
  /** Shown before the prompt, if there is room for it. */
  readonly lead?: string;
  readonly prompt: string;
  /** True: the text is not shown, and the cursor is after the prompt. */
  readonly isHidden?: boolean;
}

/** The columns that a prompt leaves to the text. */
const LEAST_INPUT = 8;
/** The rows that a menu keeps beside a long text. */
const LEAST_MENU = 3;

/** Returns the lead and the prompt, as far as they fit. */
export function promptPrefix({ lead = "", prompt }: PromptLabel, columns: number): string {
  const whole = displayWidth(lead + prompt) + LEAST_INPUT <= columns ? lead + prompt : prompt;
  return truncated(whole, Math.max(1, columns - LEAST_INPUT));
}

/** Returns the rows of a text with its prompt before the first one and its menu after the last one. */
export function promptRows(
  { text, cursor, above, below, menu }: AreaRows,
  { prefix, room, style }: { readonly prefix: string; readonly room: LiveRoom; readonly style: Style },
): LiveRows {
  const width = displayWidth(prefix);
  const shownMenu = menu.length === 0 ? [] : cropped(menu, selectedRow(menu), Math.max(LEAST_MENU, room.rows - text.length));
  const shown = cropped(
    text.map((line, index) => ({ line, index })),
    cursor.row,
    Math.max(1, room.rows - shownMenu.length),
  );
  const lines = shown.map(({ line, index }) => {
    const isHiddenBefore = index === shown[0]?.index && (index > 0 || above > 0);
    const isHiddenAfter = index === shown.at(-1)?.index && (index < text.length - 1 || below > 0);
    const mark = isHiddenBefore ? "↑" : isHiddenAfter ? "↓" : index === 0 ? prefix : "";
    return `${mark === prefix ? prefix : style.dim(mark)}${" ".repeat(width - displayWidth(mark))}${line}`;
  });
  const first = shown[0]?.index ?? 0;
  const indent = " ".repeat(Math.min(width, 2));
  return {
    lines: [...lines, ...shownMenu.map((line) => `${indent}${line}`)],
    cursor: { row: cursor.row - first, column: width + cursor.column },
  };
}

/** Returns the row of a prompt whose text is not shown. */
export function hiddenRows(label: PromptLabel, { columns }: LiveRoom): LiveRows {
  const prefix = promptPrefix(label, columns);
  return { lines: [prefix], cursor: { row: 0, column: displayWidth(prefix) } };
}

/** Returns at most `count` rows around the one at `kept`. */
export function cropped<Row>(rows: readonly Row[], kept: number, count: number): readonly Row[] {
  if (rows.length <= count) return rows;
  const first = Math.max(0, Math.min(kept - Math.floor(count / 2), rows.length - count));
  return rows.slice(first, first + count);
}

/** The library marks the selected row of a menu with an arrow. */
function selectedRow(menu: readonly string[]): number {
  return Math.max(
    0,
    menu.findIndex((line) => line.includes("→ ")),
  );
}

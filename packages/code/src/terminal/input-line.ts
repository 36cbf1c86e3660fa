import { displayWidth, fittingTail, truncated } from "../text/display-width.ts";
import { printableLine } from "../text/printable.ts";
import type { LivePart } from "./live-part.ts";

/** One line that a person types, with the cursor in it. */
export interface InputLine {
  /** Shown before the prompt if there is room for it. */
  readonly lead?: string;
  readonly prompt: string;
  readonly text: string;
  /** Place of the cursor in `text`, in UTF-16 units. */
  readonly cursor: number;
}

const LEAST_INPUT = 8;

/** Returns a part that shows the stretch of the line around the cursor. */
export function inputLinePart({ lead = "", prompt, text, cursor }: InputLine): LivePart {
  return {
    rows({ columns }) {
      const whole = displayWidth(lead + prompt) + LEAST_INPUT <= columns ? lead + prompt : prompt;
      const shownPrompt = truncated(whole, columns - LEAST_INPUT);
      const before = displayWidth(shownPrompt);
      const room = columns - before - 1;
      // Text further away than this cannot be seen, and a paste may be a whole file.
      const typed = fittingTail(printableLine(text.slice(Math.max(0, cursor - 4 * room), cursor)), room);
      const after = printableLine(text.slice(cursor, cursor + 4 * room));
      const line = `${shownPrompt}${truncated(typed + after, room + 1)}`;
      return { lines: [line], cursor: { row: 0, column: before + displayWidth(typed) } };
    },
  };
}

import type { LivePart, LiveRoom, LiveRows } from "../terminal/live-part.ts";
import { displayWidth, fitting, truncated } from "../text/display-width.ts";
import { printableLine } from "../text/printable.ts";
import type { Style } from "../text/style.ts";
import { filterChoices } from "./filter-choices.ts";
import { type PickerKey, readPickerKey } from "./picker-key.ts";

/** A thing that a person may choose. */
export interface Choice<T> {
  readonly value: T;
  /** Names it: in its first row, and searched. */
  readonly label: string;
  /** Searched too, and shown nowhere. */
  readonly words?: string;
  /** Shown beside the label if there is room. */
  readonly description?: string | undefined;
  /** A second row, for the columns that there are. Printable, without colours. Absent: one row. */
  readonly details?: (columns: number) => string;
  /** Before the label, such as `!`. */
  readonly mark?: string | undefined;
}

/** A list that has the keys of a terminal until something was chosen. */
export interface Picker {
  readonly part: LivePart;
  /** Takes one key as the terminal sent it. */
  handle(sequence: string): void;
}

export interface ListPickerOptions<T> {
  /** The kind of the choices: `model`. */
  readonly title: string;
  readonly choices: readonly Choice<T>[];
  readonly style: Style;
  /** The choice that is marked at first. Default: the first one. */
  readonly initial?: T | undefined;
  /** The line of a list without choices. */
  readonly empty?: string;
  /** The key Tab, with what it does. Absent: Tab does nothing. */
  readonly onSwitch?: { readonly hint: string; act(): void } | undefined;
  /** @param chosen `undefined`: the person left */
  onDone(chosen: T | undefined): void;
}

/** A list whose choices may change while it is open. */
export interface ListPicker<T> extends Picker {
  /** Replaces the choices. What was typed stays, and so does the marked choice if it is still there. */
  setChoices(choices: readonly Choice<T>[], title?: string): void;
}

const POINTER = "❯ ";
const BESIDE_GAP = 2;
// The conversation stays in sight above a list.
const MAX_ROWS = 20;
// Below this a description would be a column of single words.
const LEAST_DESCRIPTION = 12;

/** Shows choices in at most 20 rows, or those of its room: the search, the choices around the marked one, the keys. */
export function createListPicker<T>(options: ListPickerOptions<T>): ListPicker<T> {
  const { style, empty = "there is nothing to choose from", onSwitch, onDone } = options;
  let { title, choices } = options;
  let typed = "";
  let found = choices;
  let marked = Math.max(
    0,
    choices.findIndex(({ value }) => value === options.initial),
  );
  /** Choices in sight at the last frame, for the page keys. */
  let page = 1;
  let isDone = false;

  function search(text: string): void {
    typed = text;
    found = filterChoices(choices, typed);
    marked = 0;
  }

  function move(to: Extract<PickerKey, { readonly type: "move" }>["to"]): void {
    const last = found.length - 1;
    if (last < 0) return;
    if (to === "first") marked = 0;
    else if (to === "last") marked = last;
    else if (to === "page-up") marked = Math.max(0, marked - page);
    else if (to === "page-down") marked = Math.min(last, marked + page);
    // One step beyond an end comes back at the other.
    else if (to === "up") marked = marked === 0 ? last : marked - 1;
    else marked = marked === last ? 0 : marked + 1;
  }

  function done(chosen: T | undefined): void {
    isDone = true;
    onDone(chosen);
  }

  function act(key: PickerKey): void {
    switch (key.type) {
      case "text":
        return search(typed + key.text);
      case "erase":
        return search(withoutLast(typed));
      case "erase-word":
        return search(typed.replace(/\S*\s*$/, ""));
      case "erase-all":
        return search("");
      case "move":
        return move(key.to);
      case "switch":
        return onSwitch?.act();
      case "leave":
        return done(undefined);
      case "take": {
        const chosen = found[marked];
        if (chosen !== undefined) done(chosen.value);
      }
    }
  }

  function rows({ columns, rows: given }: LiveRoom): LiveRows {
    const room = Math.min(given, MAX_ROWS);
    const input = `${title} › `;
    const prompt = displayWidth(input) + 8 <= columns ? input : "› ";
    const shownText = lastFitting(printableLine(typed), columns - displayWidth(prompt) - 1);
    const lines = [`${style.bold(prompt)}${shownText}`];
    const below = hintLine(columns);
    const left = room - 1 - (room > 3 ? 1 : 0);
    lines.push(...choiceLines(columns, left));
    if (room > 3) lines.push(style.dim(below));
    return { lines: lines.slice(0, Math.max(1, room)), cursor: { row: 0, column: displayWidth(prompt) + displayWidth(shownText) } };
  }

  function choiceLines(columns: number, room: number): readonly string[] {
    if (room <= 0) return [];
    if (found.length === 0) return [style.yellow(truncated(choices.length === 0 ? empty : "no match", columns))];
    const hasDetails = choices.some(({ details }) => details !== undefined);
    const height = hasDetails && room >= 2 ? 2 : 1;
    page = Math.max(1, Math.floor(room / height));
    const first = Math.max(0, Math.min(marked - Math.floor(page / 2), found.length - page));
    const shown = found.slice(first, first + page);
    const widest = Math.max(
      ...shown.map(({ label, mark }) => displayWidth(printableLine(label)) + (mark === undefined ? 0 : displayWidth(mark) + 1)),
    );
    return shown.flatMap((choice, index) => {
      const isMarked = first + index === marked;
      const head = headOf(choice, { isMarked, columns, widest });
      if (height === 1) return [head];
      const details = choice.details?.(columns - displayWidth(POINTER) - 2) ?? "";
      return [head, style.dim(`    ${details}`)];
    });
  }

  function headOf(
    { label, description, mark }: Choice<T>,
    { isMarked, columns, widest }: { readonly isMarked: boolean; readonly columns: number; readonly widest: number },
  ): string {
    const before = `${isMarked ? POINTER : "  "}${mark === undefined ? "" : `${mark} `}`;
    const room = columns - displayWidth(before);
    const name = truncated(printableLine(label), room);
    const start = displayWidth(POINTER) + widest + BESIDE_GAP;
    const head = isMarked ? style.bold(`${before}${name}`) : `${before}${name}`;
    if (description === undefined || columns - start < LEAST_DESCRIPTION) return head;
    const gap = " ".repeat(Math.max(BESIDE_GAP, start - displayWidth(before) - displayWidth(name)));
    return `${head}${gap}${style.dim(truncated(printableLine(description), columns - start))}`;
  }

  function hintLine(columns: number): string {
    const place = found.length === 0 ? [] : [`${marked + 1}/${found.length}`];
    const hints = [...place, "↑↓", "Enter picks", "Esc cancels", ...(onSwitch === undefined ? [] : [`Tab ${onSwitch.hint}`])];
    let line = "";
    for (const hint of hints) {
      const longer = line === "" ? `  ${hint}` : `${line} · ${hint}`;
      if (displayWidth(longer) > columns) break;
      line = longer;
    }
    return line;
  }

  return {
    part: { rows },
    handle(sequence) {
      const key = readPickerKey(sequence);
      if (key !== undefined && !isDone) act(key);
    },
    setChoices(next, nextTitle = title) {
      const before = found[marked]?.value;
      title = nextTitle;
      choices = next;
      found = filterChoices(choices, typed);
      const again = found.findIndex(({ value }) => value === before);
      marked = Math.max(0, again);
    },
  };
}

const GRAPHEMES = new Intl.Segmenter(undefined, { granularity: "grapheme" });

function withoutLast(text: string): string {
  const last = [...GRAPHEMES.segment(text)].at(-1);
  return last === undefined ? "" : text.slice(0, last.index);
}

/** The longest end of `text` that fits into `columns`. */
function lastFitting(text: string, columns: number): string {
  let rest = text;
  while (rest !== "" && displayWidth(rest) > columns) rest = rest.slice(Math.max(1, fitting(rest, 1).length));
  return rest;
}

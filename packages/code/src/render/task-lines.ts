import type { SessionTask } from "../core/session-tasks.ts";
import { truncated } from "../text/display-width.ts";
import { printableLine } from "../text/printable.ts";
import type { Style } from "../text/style.ts";

export interface TaskLinesOptions {
  readonly style: Style;
  readonly columns: number;
  /** The most lines that the list may take. Default: all. */
  readonly maxLines?: number | undefined;
  /** False for a terminal that shows ASCII alone. Default true. */
  readonly unicode?: boolean | undefined;
}

interface Marks {
  readonly open: string;
  readonly doing: string;
  readonly done: string;
  readonly more: string;
}

const UNICODE: Marks = { open: "☐", doing: "◐", done: "☑", more: "…" };
const ASCII: Marks = { open: "[ ]", doing: "[~]", done: "[x]", more: "..." };

/** The list of tasks of a session, a line each. A list that is too long is folded to what is around the task that is being done. */
export function taskLines(
  tasks: readonly SessionTask[],
  { style, columns, maxLines = Infinity, unicode = true }: TaskLinesOptions,
): string[] {
  const marks = unicode ? UNICODE : ASCII;
  const { first, end } = shownPart(tasks, maxLines);
  const lines = tasks.slice(first, end).map(({ text, state }) => {
    const line = truncated(`${marks[state]} ${printableLine(text)}`, columns);
    return state === "doing" ? style.bold(line) : state === "done" ? style.dim(line) : line;
  });
  // The current task is shown alone if not even the notes fit.
  const note = (count: number, words: string): string[] =>
    count === 0 || maxLines < 3 ? [] : [style.dim(truncated(`${marks.more} ${count} ${words}`, columns))];
  return [...note(first, wordsOf(tasks.slice(0, first))), ...lines, ...note(tasks.length - end, "more")];
}

/** Chooses the tasks that are shown, so that they and the notes about the rest fit. The task before the current one says what was done last. */
function shownPart(tasks: readonly SessionTask[], maxLines: number): { readonly first: number; readonly end: number } {
  const { length } = tasks;
  if (length <= maxLines) return { first: 0, end: length };
  const current = currentIndex(tasks);
  const wanted = Math.max(0, current - (maxLines >= 4 ? 1 : 0));
  // A note about a single task would take the line of that task.
  const first = wanted === 1 && maxLines >= 4 ? 0 : wanted;
  const room = maxLines - (first > 0 ? 1 : 0);
  if (length - first <= room) return { first: length - room, end: length };
  return { first, end: first + Math.max(1, room - 1) };
}

/** The task that is being done, else the next one, else the last. */
function currentIndex(tasks: readonly SessionTask[]): number {
  const doing = tasks.findIndex(({ state }) => state === "doing");
  const next = doing === -1 ? tasks.findIndex(({ state }) => state === "open") : doing;
  return next === -1 ? tasks.length - 1 : next;
}

function wordsOf(hidden: readonly SessionTask[]): string {
  return hidden.every(({ state }) => state === "done") ? "done" : "before";
}

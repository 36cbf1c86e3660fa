import { displayWidth } from "../text/display-width.ts";
import { printableLine } from "../text/printable.ts";
import { wrapped } from "../text/wrapped.ts";

/** A command of the prompt as `/help` shows it. */
export interface ListedCommand {
  readonly name: string;
  readonly argumentHint?: string;
  readonly description: string;
}

const KEYS =
  "While it works, what you type steers it. Esc ends what it does now, commands included. Ctrl-C stops it after this step, Ctrl-C again aborts it.";
// Below this the words of a command would be a column of single words.
const LEAST_WORDS = 24;
// One long name must not move the words of all others.
const WIDEST_COLUMN = 32;

/** What can be done in a conversation: the words beside the commands where there is room, else below them. */
export function helpLines(columns: number, listed: readonly ListedCommand[]): string[] {
  const rows = listed.map(({ name, argumentHint, description }) => ({
    command: printableLine(argumentHint === undefined ? `/${name}` : `/${name} ${argumentHint}`),
    words: printableLine(description),
  }));
  const widest = Math.min(WIDEST_COLUMN, Math.max(0, ...rows.map(({ command }) => displayWidth(command))) + 2);
  const lines = rows.flatMap(({ command, words }) => {
    const beside = columns - widest >= LEAST_WORDS && displayWidth(command) < widest;
    const indent = columns - widest >= LEAST_WORDS ? widest : 2;
    const [first = "", ...rest] = wrapped(words, columns - indent);
    const more = (beside ? rest : [first, ...rest]).map((row) => `${" ".repeat(indent)}${row}`);
    return beside ? [`${command}${" ".repeat(widest - displayWidth(command))}${first}`, ...more] : [...wrapped(command, columns), ...more];
  });
  return [...lines, ...wrapped(KEYS, columns)];
}

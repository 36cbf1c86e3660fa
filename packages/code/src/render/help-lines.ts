import { COMMAND_GROUPS, type CommandGroup } from "../slash-commands/slash-command.ts";
import { displayWidth } from "../text/display-width.ts";
import { printableLine } from "../text/printable.ts";
import type { Style } from "../text/style.ts";
import { wrapped } from "../text/wrapped.ts";

/** A command of the prompt as `/help` shows it. */
export interface ListedCommand {
  readonly name: string;
  readonly argumentHint?: string;
  readonly description: string;
  /** Absent: the command is a file. */
  readonly group?: CommandGroup;
  /** Shown behind the description. */
  readonly file?: string;
}

/** A key of the prompt as `/help` shows it. */
export interface ListedKey {
  readonly key: string;
  readonly does: string;
}

export interface HelpLinesOptions {
  readonly columns: number;
  readonly style: Style;
  readonly commands: readonly ListedCommand[];
  readonly keys: readonly ListedKey[];
}

const TITLES: { readonly [G in CommandGroup]: string } = {
  conversation: "Conversation",
  agent: "Model and permissions",
  files: "Files",
  project: "Project",
  program: "Program",
};
// Below this the words of a command would be a column of single words.
const LEAST_WORDS = 24;
// One long name must not move the words of all others.
const WIDEST_COLUMN = 32;

interface Row {
  readonly head: string;
  readonly words: string;
}

/** The commands by group, then the keys: the words beside each where there is room, else below it. */
export function helpLines({ columns, style, commands, keys }: HelpLinesOptions): string[] {
  const groups = [
    ...COMMAND_GROUPS.map((group) => ({ title: TITLES[group], rows: commands.filter((one) => one.group === group).map(commandRow) })),
    { title: "Commands from files", rows: commands.filter(({ group }) => group === undefined).map(commandRow) },
    { title: "Keys", rows: keys.map(({ key, does }) => ({ head: printableLine(key), words: printableLine(does) })) },
  ].filter(({ rows }) => rows.length > 0);
  const widths = groups.flatMap(({ rows }) => rows.map(({ head }) => displayWidth(head) + 2));
  const widest = Math.max(0, ...widths.filter((width) => width <= WIDEST_COLUMN));
  return groups.flatMap(({ title, rows }, index) => [
    ...(index === 0 ? [] : [""]),
    style.bold(title),
    ...rows.flatMap((row) => rowLines(row, columns, widest)),
  ]);
}

function commandRow({ name, argumentHint, description, file }: ListedCommand): Row {
  const words = file === undefined ? description : `${description} (${file})`;
  return { head: printableLine(argumentHint === undefined ? `/${name}` : `/${name} ${argumentHint}`), words: printableLine(words) };
}

function rowLines({ head, words }: Row, columns: number, widest: number): readonly string[] {
  const hasRoom = columns - widest >= LEAST_WORDS;
  const beside = hasRoom && displayWidth(head) < widest;
  const indent = hasRoom ? widest : 2;
  const [first = "", ...rest] = wrapped(words, columns - indent);
  const more = (beside ? rest : [first, ...rest]).map((line) => `${" ".repeat(indent)}${line}`);
  return beside ? [`${head}${" ".repeat(widest - displayWidth(head))}${first}`, ...more] : [...wrapped(head, columns), ...more];
}

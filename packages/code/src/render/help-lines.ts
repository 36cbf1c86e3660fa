import { displayWidth } from "./display-width.ts";
import { wrapped } from "./wrapped.ts";

const COMMANDS: readonly (readonly [string, string])[] = [
  ["/model [provider/id]", "show or change the model"],
  ["/cost", "what this session took"],
  ["/context", "what fills the last request, and what that cost"],
  ["/sessions", "the sessions of this folder"],
  ["/permissions", "what always runs unasked in this project"],
  ["/why", "why the last question was asked, with modes, risks and rules"],
  ["/trust", "use what this project brings and was left out"],
  ["/quit", "leave (also Ctrl-D)"],
];
const KEYS = "While it works, what you type steers it. Esc or Ctrl-C stops it, Ctrl-C again aborts it.";
const WIDEST = Math.max(...COMMANDS.map(([command]) => displayWidth(command))) + 2;
// Below this the words of a command would be a column of single words.
const LEAST_WORDS = 24;

/** What can be done in a conversation: the words beside the commands where there is room, else below them. */
export function helpLines(columns: number): string[] {
  const beside = columns - WIDEST >= LEAST_WORDS;
  const indent = beside ? WIDEST : 2;
  const commands = COMMANDS.flatMap(([command, words]) => {
    const [first = "", ...rest] = wrapped(words, columns - indent);
    const more = (beside ? rest : [first, ...rest]).map((row) => `${" ".repeat(indent)}${row}`);
    return beside ? [`${command.padEnd(WIDEST)}${first}`, ...more] : [command, ...more];
  });
  return [...commands, ...wrapped(KEYS, columns)];
}

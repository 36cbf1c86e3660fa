import type { CommandHost } from "../core/command-host.ts";
import type { LiveScreen } from "../terminal/live-screen.ts";
import { createLineInput } from "./line-input.ts";
import { createTerminalInput, type TerminalInput } from "./terminal-input.ts";

export interface PersonQuestion<Answer> {
  readonly prompt: string;
  /** Reads a line: tells the answer, or shows on the screen what is wrong with it. */
  read(line: string, tell: (answer: Answer) => void): void;
  /** What Ctrl-C, Esc and the end of the input stand for. */
  readonly otherwise: Answer;
}

export interface AskingTerminal extends Pick<CommandHost, "stdin"> {
  readonly screen: Pick<LiveScreen, "block" | "part" | "changed" | "close">;
  /** True for a screen that moves no cursor: the terminal itself edits the line. Default: false. */
  readonly isSpoken?: boolean;
}

/** Asks a person at a terminal one question, until a line answers it. The screen is closed afterwards. */
export async function askPerson<Answer>(
  { prompt, read, otherwise }: PersonQuestion<Answer>,
  { screen, stdin, isSpoken = false }: AskingTerminal,
): Promise<Answer> {
  const { promise: answered, resolve: tell } = Promise.withResolvers<Answer>();
  const onLine = (line: string): void => read(line, tell);
  const leave = (): void => tell(otherwise);
  const heard = { input: stdin, onMessage: onLine, onAnswer: onLine, onInterrupt: leave, onEscape: leave, onEnd: leave };
  const input: TerminalInput = isSpoken
    ? createLineInput({ ...heard, onPrompt: (text) => screen.block([text]) })
    : createTerminalInput({ ...heard, history: [], onChange: () => screen.changed({ soon: true }) });
  screen.part("input", input.part);
  try {
    input.answer(prompt, "");
    return await answered;
  } finally {
    input.close();
    screen.close();
  }
}

import type { CommandHost } from "../core/command-host.ts";
import { createLiveScreen } from "../render/live-screen.ts";
import { createStyle, wantsColors } from "../render/style.ts";
import { trustLines } from "../render/trust-lines.ts";
import type { ProjectItem } from "../trust/project-item.ts";
import { createTerminalInput } from "./terminal-input.ts";

/** Asks a person at a terminal whether to use what a project brings. @returns whether they trust all of it */
export async function askTrust(
  items: readonly ProjectItem[],
  { stdin, stdout, environment }: Pick<CommandHost, "stdin" | "stdout" | "environment">,
): Promise<boolean> {
  const style = createStyle(wantsColors(stdout, environment));
  const screen = createLiveScreen(stdout);
  const { promise: answered, resolve } = Promise.withResolvers<boolean>();

  screen.block([
    style.yellow("This project brings what the agent would obey or run, and nobody trusts it as it is:"),
    ...trustLines(items, { style }),
  ]);

  function answer(line: string): void {
    const given = line.trim().toLowerCase();
    if (given === "y" || given === "yes") return resolve(true);
    if (given === "s" || given === "show") return screen.block(trustLines(items, { style, all: true }));
    if (given === "" || given === "n" || given === "no") return resolve(false);
    screen.block([style.yellow("answer with y (trust it), n (leave it out) or s (show all of it), and Enter")]);
  }

  const input = createTerminalInput({
    input: stdin,
    columns: screen.columns,
    history: [],
    draw: (line) => screen.input(line),
    onMessage: answer,
    onAnswer: answer,
    onInterrupt: () => resolve(false),
    onEscape: () => resolve(false),
    onEnd: () => resolve(false),
  });
  try {
    input.answer("trust it, as it is now? [y]es [n]o [s]how all › ", "");
    return await answered;
  } finally {
    input.close();
    screen.close();
  }
}

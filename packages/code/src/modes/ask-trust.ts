import type { CommandHost } from "../core/command-host.ts";
import { openScreen } from "../terminal/open-screen.ts";
import { createStyle, wantsColors } from "../text/style.ts";
import { trustLines } from "../render/trust-lines.ts";
import type { ProjectItem } from "../trust/project-item.ts";
import { askPerson } from "./ask-person.ts";

/**
 * Asks a person at a terminal whether to use what a project brings.
 * @param isSpoken true if a screen reader reads the terminal
 * @returns true if they trust all of it
 */
export async function askTrust(
  items: readonly ProjectItem[],
  isSpoken: boolean,
  { stdin, stdout, environment }: Pick<CommandHost, "stdin" | "stdout" | "environment">,
): Promise<boolean> {
  const style = createStyle(wantsColors(stdout, environment));
  const screen = openScreen(stdout, { environment, screenReader: isSpoken });

  screen.block([
    style.yellow("This project brings what the agent would obey or run, and nobody trusts it as it is:"),
    ...trustLines(items, { style }),
  ]);

  return askPerson<boolean>(
    {
      prompt: "trust it, as it is now? [y]es [n]o [s]how all › ",
      read(line, tell) {
        const given = line.trim().toLowerCase();
        if (given === "y" || given === "yes") return tell(true);
        if (given === "s" || given === "show") return screen.block(trustLines(items, { style, all: true }));
        if (given === "" || given === "n" || given === "no") return tell(false);
        screen.block([style.yellow("answer with y (trust it), n (leave it out) or s (show all of it), and Enter")]);
      },
      otherwise: false,
    },
    { screen, stdin, isSpoken },
  );
}

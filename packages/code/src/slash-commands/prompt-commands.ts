import { helpLines, type ListedKey } from "../render/help-lines.ts";
import { whyLines } from "../render/why-lines.ts";
import type { SlashCommand } from "./slash-command.ts";

export interface HelpCommandOptions {
  readonly keys: readonly ListedKey[];
  /** The path of a file as a person reads it. */
  shownFile(file: string): string;
}

/** Lists the commands and the keys. It is not in its own list. */
export function helpCommand({ keys, shownFile }: HelpCommandOptions): SlashCommand {
  return {
    name: "help",
    description: "what can be typed here",
    execute: (_argument, { columns, style, commands }) =>
      helpLines({
        columns,
        style,
        keys,
        commands: commands
          .filter(({ name }) => name !== "help")
          .map(({ file, ...command }) => (file === undefined ? command : { ...command, file: shownFile(file) })),
      }),
  };
}

export const whyCommand: SlashCommand = {
  name: "why",
  description: "why the last question was asked, with modes, risks and rules",
  group: "agent",
  execute: (_argument, { lastAsked }) => (lastAsked === undefined ? ["nothing was asked yet"] : whyLines(lastAsked)),
};

export const quitCommand: SlashCommand = {
  name: "quit",
  aliases: ["exit"],
  description: "leave (also Ctrl-D)",
  group: "program",
  execute: (_argument, prompt) => prompt.leave(),
};

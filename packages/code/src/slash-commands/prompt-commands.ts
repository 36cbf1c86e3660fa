import { helpLines } from "../render/help-lines.ts";
import { whyLines } from "../render/why-lines.ts";
import type { SlashCommand } from "./slash-command.ts";

/** Lists the commands. It is not in its own list. */
export const helpCommand: SlashCommand = {
  name: "help",
  description: "what can be typed here",
  execute: (_argument, { columns, commands }) =>
    helpLines(
      columns,
      commands.filter((command) => command !== helpCommand),
    ),
};

export const modelCommand: SlashCommand = {
  name: "model",
  argumentHint: "[provider/id]",
  description: "show or change the model",
  execute(name, prompt) {
    if (name === "") return [`model: ${prompt.model}`];
    return prompt.changeModel(name);
  },
};

export const whyCommand: SlashCommand = {
  name: "why",
  description: "why the last question was asked, with modes, risks and rules",
  execute: (_argument, { lastAsked }) => (lastAsked === undefined ? ["nothing was asked yet"] : whyLines(lastAsked)),
};

export const quitCommand: SlashCommand = {
  name: "quit",
  aliases: ["exit"],
  description: "leave (also Ctrl-D)",
  execute: (_argument, prompt) => prompt.leave(),
};

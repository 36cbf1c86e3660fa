import type { ApprovalRequest } from "@keelson/protocol";
import type { Run } from "keelson";
import type { RunTerms } from "../core/run-terms.ts";
import type { Reading } from "../markdown/reading.ts";
import type { ChooseFrom } from "../pickers/choose-from.ts";
import type { SlashLine } from "../slash-commands/parse-slash-line.ts";
import type { Prompt } from "../slash-commands/slash-command.ts";
import type { SlashCommandTable } from "../slash-commands/slash-command-table.ts";
import type { Screen } from "../terminal/screen.ts";
import { printableLine } from "../text/printable.ts";
import type { Style } from "../text/style.ts";
import type { TermChanges } from "./term-changes.ts";

export interface SlashLinesOptions {
  readonly screen: Screen;
  readonly style: Style;
  readonly reading: Reading | undefined;
  readonly commands: SlashCommandTable;
  readonly changes: TermChanges;
  terms(): RunTerms;
  run(): Run<unknown> | undefined;
  lastAsked(): ApprovalRequest | undefined;
  readonly choose: ChooseFrom | undefined;
  send(text: string): void;
  leave(): void;
}

/** Executes a command of the prompt, and shows what it returns. Rejects if the command fails. */
export function createSlashLines(options: SlashLinesOptions): (line: SlashLine) => Promise<void> {
  const { screen, style, reading, commands, changes, choose, send, leave } = options;

  function prompt(): Prompt {
    return {
      columns: screen.columns,
      style,
      reading,
      commands: commands.commands,
      ...options.terms(),
      lastAsked: options.lastAsked(),
      run: options.run(),
      changeModel: changes.model,
      changeMode: changes.mode,
      changeEffort: changes.effort,
      choose,
      send,
      leave,
    };
  }

  return async function execute({ name, argument }) {
    const found = commands.find(name);
    if (found === undefined) return screen.block([style.yellow(`there is no /${printableLine(name)}; /help says what there is`)]);
    const lines = await found.execute(argument, prompt());
    if (lines && lines.length > 0) screen.block(lines);
  };
}

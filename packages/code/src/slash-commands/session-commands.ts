import { helpCommand, modelCommand, quitCommand, whyCommand } from "./prompt-commands.ts";
import type { SlashCommand } from "./slash-command.ts";

/** Facts about the conversation that a person can ask for. */
export type Topic = "cost" | "context" | "sessions" | "permissions";

export interface SessionCommandsOptions {
  /** Facts about the conversation so far. */
  facts(topic: Topic): Promise<readonly string[]>;
  /** Has what the project brings and was left out be used. @returns lines that say what that is */
  trustLeftOut(): Promise<readonly string[]>;
  /** Has the conversation shortened before the next turn. @param keep what to keep; empty: what the agent chooses */
  compact(keep: string): Promise<readonly string[]>;
}

/**
 * The commands of the program, in the order in which they are listed.
 * @param more commands that need more of the process than these, listed before `/quit`
 */
export function sessionCommands(
  { facts, trustLeftOut, compact }: SessionCommandsOptions,
  more: readonly SlashCommand[] = [],
): readonly SlashCommand[] {
  const fact = (name: Topic, description: string): SlashCommand => ({ name, description, execute: () => facts(name) });
  return [
    helpCommand,
    modelCommand,
    fact("cost", "what this session took"),
    fact("context", "what fills the last request, and what that cost"),
    { name: "compact", argumentHint: "[what to keep]", description: "shorten the conversation before the next turn", execute: compact },
    fact("sessions", "the sessions of this folder"),
    fact("permissions", "what always runs unasked in this project"),
    whyCommand,
    { name: "trust", description: "use what this project brings and was left out", execute: () => trustLeftOut() },
    ...more,
    quitCommand,
  ];
}

import type { Prompt, SlashCommand } from "./slash-command.ts";

/** Facts about the conversation that a person can ask for. */
export type Topic = "cost" | "context" | "permissions";

type View = Pick<Prompt, "style" | "columns">;

export interface SessionCommandsOptions {
  /** Facts about the conversation so far. */
  facts(topic: Topic, view: View): Promise<readonly string[]>;
  /** Trusts the items of the project that are not used yet. @returns lines that say what they are */
  trustLeftOut(view: View): Promise<readonly string[]>;
  /** Has the conversation shortened before the next turn. @param keep what to keep; empty: what the agent chooses */
  compact(keep: string): Promise<readonly string[]>;
}

/** The commands about the session that is open. */
export function sessionCommands({ facts, trustLeftOut, compact }: SessionCommandsOptions): readonly SlashCommand[] {
  const fact = (name: Topic, group: "conversation" | "agent", description: string): SlashCommand => ({
    ...{ name, description, group },
    execute: (_argument, { style, columns }) => facts(name, { style, columns }),
  });
  return [
    fact("cost", "conversation", "turns, tokens and cost of this session"),
    fact("context", "conversation", "what fills the last request, and what that cost"),
    {
      name: "compact",
      argumentHint: "[what to keep]",
      description: "shorten the conversation before the next turn",
      group: "conversation",
      execute: (keep) => compact(keep),
    },
    fact("permissions", "agent", "what always runs unasked in this project"),
    {
      name: "trust",
      description: "trust what this project brings and is not used yet",
      group: "project",
      execute: (_argument, { style, columns }) => trustLeftOut({ style, columns }),
    },
  ];
}

import type { ApprovalRequest, EffortLevel, PermissionMode } from "@keelson/protocol";
import type { Run } from "keelson";
import type { Reading } from "../markdown/reading.ts";
import type { ChooseFrom } from "../pickers/choose-from.ts";
import type { Style } from "../text/style.ts";

/** A text that can be put in place of what a person has typed so far. */
export interface Suggestion {
  /** Replaces what was typed. */
  readonly value: string;
  /** Shown in place of `value`. */
  readonly label?: string;
  readonly description?: string;
}

/** The groups of commands, in the order in which `/help` lists them. */
export const COMMAND_GROUPS = ["conversation", "agent", "files", "project", "program"] as const;

export type CommandGroup = (typeof COMMAND_GROUPS)[number];

/** A command that a person types into the prompt: a slash, its name, and perhaps an argument. */
export interface SlashCommand {
  /** Without the slash. */
  readonly name: string;
  /** Other names that are taken for it. */
  readonly aliases?: readonly string[];
  /** Shown behind the name: `[provider/id]`. */
  readonly argumentHint?: string;
  readonly description: string;
  /** Absent: the command is a file. */
  readonly group?: CommandGroup;
  /** The file that it was read from. Absent: it is a part of the program. */
  readonly file?: string;
  /** Returns suggestions for an argument of which this much is typed, best first. Absent: the argument has none. */
  complete?(argument: string): Promise<readonly Suggestion[]>;
  /**
   * @param argument the text behind the name, without blanks around it
   * @returns lines to show; what they hold of others must be printable
   */
  execute(argument: string, prompt: Prompt): SlashOutput | Promise<SlashOutput>;
}

export type SlashOutput = readonly string[] | void;

/** The conversation as its commands see it. */
export interface Prompt {
  readonly columns: number;
  readonly style: Style;
  /** Renders words and code. Absent: they are shown as they were written. */
  readonly reading: Reading | undefined;
  /** All commands that can be typed here. */
  readonly commands: readonly SlashCommand[];
  readonly model: string;
  readonly mode: PermissionMode;
  /** `undefined`: the effort is that of the model. */
  readonly effort: EffortLevel | undefined;
  /** The question that was shown last. */
  readonly lastAsked: ApprovalRequest | undefined;
  /** The run that is under way. */
  readonly run: Run<unknown> | undefined;
  /** Changes the model of the run that is under way and of later ones. Says so itself. */
  changeModel(name: string): void;
  /** The same for the permission mode. */
  changeMode(mode: PermissionMode): void;
  /** The same for the effort. @param level `undefined`: as the session was started */
  changeEffort(level: EffortLevel | undefined): void;
  /** Has the person choose from a list. Absent: no list can be shown here, and the command lists the choices itself. */
  readonly choose: ChooseFrom | undefined;
  /** Sends a text to the agent, as if it had been typed. */
  send(text: string): void;
  /** Ends the conversation, after the run that is under way. */
  leave(): void;
}

import type { ShellWord } from "./shell-word.ts";

/** The meaning of a command to the entry of its program. */
export interface EntryFacts {
  /** Each of its words is listed. */
  readonly understood: boolean;
  /** It is understood, changes nothing and connects to nothing. What it runs is judged for itself. */
  readonly readOnly: boolean;
  /** Files whose content it reads; files and folders of which it sees name and properties; files that it writes, moves or deletes. */
  readonly reads: readonly ShellWord[];
  readonly looks: readonly ShellWord[];
  readonly writes: readonly ShellWord[];
  /** It goes through the folders among these. */
  readonly recurses: boolean;
  /** It finds the files in its folder and below by itself, and does this to them. */
  readonly here?: "read" | "look" | "write";
  /** The folder in which it works, if that is not the one of the line. */
  readonly folder?: ShellWord;
  readonly hosts: readonly string[];
  /** Commands that it starts, as words. */
  readonly runs: readonly (readonly ShellWord[])[];
  /** Its command gets more arguments: names of files that it found, or words of its input. */
  readonly adds?: "found" | "input";
  /** The text that replaces these in its command. */
  readonly placeholder?: string;
  /** Texts that a shell runs for it, and files that it runs as programs. */
  readonly code: readonly string[];
  readonly scripts: readonly ShellWord[];
  /** Variables of the shell that it sets, and assignments among its words. */
  readonly variables: readonly ShellWord[];
  readonly assignments: readonly ShellWord[];
  /** The words that the entry does not list, as they are written. */
  readonly unlisted: readonly string[];
  /** Its options, by their spellings. */
  readonly options: ReadonlySet<string>;
  /** Its words from the subcommand on, if options precede that. */
  readonly alias?: readonly ShellWord[];
}

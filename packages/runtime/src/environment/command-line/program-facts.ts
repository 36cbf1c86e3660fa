import type { DestroyedWords } from "./entry-facts.ts";
import type { ShellWord } from "./shell-word.ts";

/** What is known of a program that is started with certain arguments. Nothing known is `{}`: it may do anything, as its name says. */
export interface ProgramFacts {
  /** It changes nothing and connects to nothing, as long as the files it is given lie in the workspace. */
  readonly readOnly?: boolean;
  /** Why a pattern with a wildcard must not cover it. */
  readonly caution?: string;
  /** Why it can't be told by reading what it runs. */
  readonly unknown?: string;
  /** Its words that its entry does not list. */
  readonly unlisted?: readonly string[];
  /** It is in no table. */
  readonly unknownProgram?: boolean;
  /** It goes through the folders among what it reads and writes, or does this to all files of its folder. */
  readonly recurses?: boolean;
  readonly here?: "read" | "look" | "write";
  /** The folder in which it works, if that is not the one of the line. */
  readonly folder?: ShellWord;
  /** It obeys the settings of the git repository around its folder. With `fromTop` files are named from the top of that. */
  readonly repository?: { readonly fromTop: boolean };
  /** The files that it reads when it goes through a folder; absent if it goes through those of a repository. */
  readonly searches?: { readonly skipsHidden: boolean; readonly only?: readonly string[]; readonly follows: "nothing" | "all" };
  /** Variables of the shell that it sets to text. */
  readonly sets?: readonly string[];
  /** Commands that it starts, as words, with what it adds to them. */
  readonly runs?: readonly (readonly ShellWord[])[];
  /** Texts that a shell runs for it. */
  readonly code?: readonly string[];
  /** Files whose content it reads; files and folders that it only looks at; what it writes, moves or deletes. */
  readonly reads?: readonly ShellWord[];
  readonly looks?: readonly ShellWord[];
  readonly writes?: readonly ShellWord[];
  /** The files that it deletes or overwrites. Absent: its words do not say, unless it is `readOnly`. */
  readonly destroys?: DestroyedWords;
  readonly hosts?: readonly string[];
  /** Other spellings of it, without what doesn't change what it is: `push` for `-C x push`. */
  readonly alias?: readonly ShellWord[];
  /** Files that it runs as programs. */
  readonly scripts?: readonly ShellWord[];
  /** The folder that the commands after it run in; `undefined` in a list means one that can't be told. */
  readonly entersFolder?: ShellWord | "unclear";
}

/** Knows a program by its arguments. `fed` says that the line itself gives it its input. */
export type ProgramReader = (args: readonly ShellWord[], where: { readonly name: string; readonly fed: boolean }) => ProgramFacts;

/**
 * What a call with these arguments would do to the world, as far as reading them tells. A tool says it (`effectsOf`), and
 * permission rules are held against it, so that rules know commands, files and hosts, and no rule has to know a shell.
 */
export interface CallEffects {
  /**
   * The effect of this call, if it is less than the `effect` of its tool: `read` for a command line that is known to change nothing.
   * After a crash such a call is executed again without a question. An effect that is more than that of the tool is ignored.
   */
  readonly effect?: "read" | "idempotent";
  /** The simple commands that it starts, in the order in which they are written; what a command starts in turn is one of its own. */
  readonly commands?: readonly CommandEffect[];
  /** Files and folders that it reads, and that it writes or deletes: absolute, or relative to the working directory. */
  readonly reads?: readonly string[];
  readonly writes?: readonly string[];
  /**
   * Patterns of what else it may read or write, where reading can't tell which files those are: `src/*` for `grep -r x src`, `*` for `cat $FILE`. A star
   * stands for any characters, slashes too. They matter where something may not be touched.
   */
  readonly mayTouch?: readonly string[];
  /** Files that it deletes or overwrites, as far as that is known. The commands with `destroysNamed` and those that are `readOnly` destroy no others. */
  readonly destroys?: readonly DestroyedFiles[];
  /**
   * Files that it may delete or overwrite for good, because no undo of the tool keeps them. Only a person, a rule about `lose`, or a rule that is exactly
   * this call allows that.
   */
  readonly loses?: readonly Loss[];
  /** A sentence for the questions about the call, present if not all that it deletes or overwrites is known. It leads to no question itself. */
  readonly mayLose?: string;
  /** Names of the hosts that it connects to. */
  readonly hosts?: readonly string[];
  /** The secrets that it uses, by their references or names: never values. */
  readonly secrets?: readonly string[];
  /** What reading can't tell, one sentence each for a person: "The program is taken from $TOOL." No allow pattern with a wildcard covers such a call. */
  readonly unknown?: readonly string[];
  /** It runs confined by a sandbox: what reading can't tell of it is held back when it happens. Absent: nothing confines it. */
  readonly confined?: Confinement;
  /** It asks to run outside of the sandbox that confines the calls of its run. Only a person or a rule about `outside` allows that. */
  readonly outside?: { readonly reason: string };
  /** Ports of its network that it asks to make reachable on this machine. Only a person or a rule about `port` allows that. */
  readonly ports?: readonly number[];
  /** Files that the sandbox hides because they may hold secrets, and that it asks to see. Only a person or a rule about `reveal` allows that. */
  readonly reveals?: readonly string[];
}

/** Files that a call deletes or overwrites. */
export interface DestroyedFiles {
  /** A pattern as in `mayTouch`: `dist/*` for all that is in `dist`, `*` for files that are not known. Without a star it is one file, and no folder. */
  readonly pattern: string;
  /** True if files that git ignores stay as they are. */
  readonly sparesIgnored?: boolean;
}

/** Something that a call may delete or overwrite for good. */
export interface Loss {
  /** A file or folder, absolute or relative to the working directory, or `*` if it is not known. Rules about `lose` are held against it. */
  readonly path: string;
  /** A phrase for a person, with the reason: "node_modules (31,204 files): git ignores it, and it holds dependencies". */
  readonly description: string;
}

/** What a sandbox says of the effects of a call before it runs. */
export interface Confinement {
  /** What of them it would refuse, one sentence each for a person: "It writes /etc/hosts, and only /work can be written." */
  readonly refused: readonly string[];
  /** Which hosts it lets be reached: none, those that its policy lists, or any. Absent: any. */
  readonly reaches?: "none" | "listed" | "any";
  /** Hosts of the call that its policy does not list, and that a person or a rule about `host` can open. */
  readonly closed?: readonly string[];
  /** The names of the programs that it hides: a command that is not understood cannot start these. */
  readonly hides?: readonly string[];
  /** Folders of which it has its own, such as `/tmp`: what a command does there reaches no file of this machine. */
  readonly ownFolders?: readonly string[];
  /** Absolute paths of files and folders that its policy hides, and that no repository holds. */
  readonly hidesFiles?: readonly string[];
}

/** One program with its arguments. */
export interface CommandEffect {
  /** What rules such as `bash(npm test*)` are held against: program and arguments without their quotes, one space between. */
  readonly text: string;
  /**
   * Its words that the table of its program does not list, as they are written. An allow rule with a wildcard covers the command only if each
   * of them is in the literal part of the rule; a rule with `**` covers any.
   */
  readonly unlisted?: readonly string[];
  /** True if its program is in no table. The commands that it starts and the files that it reads are not known from its words. */
  readonly unknownProgram?: boolean;
  /** Its text, with a star for each part that the line computes or matches; absent without such parts. Rules that deny or ask may be about it. */
  readonly pattern?: string;
  /** Other spellings, by which deny and ask rules find it too: `rm -r x` for `/bin/rm -r x`. */
  readonly aliases?: readonly string[];
  /** The text of the command that starts it, where that is `text` with more before it: `npx vitest run` for `vitest run`. A rule that names both allows both. */
  readonly startedBy?: string;
  /** True if it may show files as a repository holds them, also those that a sandbox hides from it. */
  readonly committed?: boolean;
  /** It is known to change nothing and to connect to nothing, so it runs unasked where no rule says otherwise. */
  readonly readOnly?: boolean;
  /** All that it deletes or overwrites is in `destroys` of the call. */
  readonly destroysNamed?: boolean;
  /** The reason why it does not run unasked although its words are understood: settings in its folder may start a program. For a person. */
  readonly asks?: string;
  /** Why an allow rule with a wildcard must not cover it: what runs is not what its text says, or it writes where it is told to. For a person. */
  readonly caution?: string;
}

import type { CallEffects, CommandEffect } from "@keelson/protocol";
import type { Surroundings } from "./surroundings.ts";

/** What is known of the place in a command line at which a command stands. */
export interface Scope {
  /** Absolute folders in which it may run, or relative ones where no workspace is known; `undefined` after a `cd` that can't be followed. */
  folders: readonly string[] | undefined;
  /** Holds for every command in it: their output goes into a file, what they run was changed before. */
  caution?: string;
  /** Its standard input comes from the line. */
  readonly fed?: boolean;
  /** Variables that the line itself set to text that is written out. */
  constants?: Constants;
}

/** The value of a variable, which may be a pattern of files: one of those that match it. */
export interface Constant {
  readonly text: string;
  readonly isPattern: boolean;
}
export type Constants = ReadonlyMap<string, Constant>;

/** What was found so far in one command line. */
export interface Reading {
  /** Reads a text as bash would run it: what `sh -c`, `eval` and `trap` are given. */
  readonly readText: (text: string, scope: Scope) => void;
  readonly workspace: string | undefined;
  /** The files around the line; absent without a workspace. */
  readonly surroundings: Surroundings | undefined;
  /** Files that hold secrets are looked for in folders that a command goes through. */
  readonly findsSecrets: boolean;
  readonly commands: CommandEffect[];
  readonly reads: Set<string>;
  readonly writes: Set<string>;
  /** Patterns of files that it deletes or overwrites, and true if those that git ignores stay as they are. Absent: they are not asked for. */
  readonly destroys: Map<string, boolean> | undefined;
  /** Patterns of files that it may touch, too. */
  readonly mayTouch: Set<string>;
  readonly hosts: Set<string>;
  readonly unknown: Set<string>;
  /** Commands, by their places in the list, that run unasked if the settings of git in all of these folders allow it, and true if they show the content of files. */
  readonly repositories: { readonly command: number; readonly folders: readonly string[]; readonly shows: boolean }[];
  /** Functions that the line defines, and aliases. */
  readonly functions: Set<string>;
  /** Variables that it sets to a number, and to something else: bash evaluates their values as code when it calculates. */
  readonly numbers: Set<string>;
  readonly texts: Set<string>;
  /** Variables that it calculates with. */
  readonly calculated: Set<string>;
  /** The line uses the values of variables that it set, and has an action that runs between its commands and may set others. */
  usesConstants: boolean;
  hasTrap: boolean;
  /** How deep in the line the reader is. */
  depth: number;
  /** The number of commands that were visited, with those that hold others. */
  visited: number;
}

export function effectsOfReading({ commands, reads, writes, mayTouch, hosts, unknown, destroys }: Reading): CallEffects {
  const destroyed = Array.from(destroys ?? [], ([pattern, sparesIgnored]) => ({ pattern, ...(sparesIgnored && { sparesIgnored }) }));
  return {
    commands,
    ...(reads.size > 0 && { reads: [...reads] }),
    ...(writes.size > 0 && { writes: [...writes] }),
    ...(mayTouch.size > 0 && { mayTouch: [...mayTouch] }),
    ...(destroyed.length > 0 && { destroys: destroyed }),
    ...(hosts.size > 0 && { hosts: [...hosts] }),
    ...(unknown.size > 0 && { unknown: [...unknown] }),
  };
}

/** A piece of the line for a message to a person. */
export function shorten(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > 60 ? `${line.slice(0, 59)}…` : line;
}

import type { EntryFacts } from "./entry-facts.ts";
import { hostsIn } from "./named-places.ts";
import type { ProgramFacts } from "./program-facts.ts";
import type { ProgramEntry } from "./programs/program-entry.ts";
import { readByEntry } from "./read-by-entry.ts";
import type { ShellWord } from "./shell-word.ts";
import { isHarmlessVariable, isSteering } from "./variables.ts";

/**
 * Syntax that runs something else in a POSIX shell than in bash. To such a shell `((evil))` is a command in two subshells, `[[ a || evil ]]`
 * a list of two commands, and `$'\\'` a dollar and a quoted backslash.
 */
const BASH_SYNTAX = /\$['"[]|&>|(?<!\$)\(\(|\[\[/;

/** A word of the input of `xargs`, which may be anything. */
const ADDED: ShellWord = {
  text: "…",
  literal: false,
  substitutes: false,
  splits: true,
  globs: false,
  tilde: false,
  quoted: true,
  written: "",
};

/** Returns the facts about a command by the entry of its program. */
export function factsByEntry(entry: ProgramEntry, args: readonly ShellWord[]): ProgramFacts {
  const found = readByEntry(entry, args);
  const { readOnly, reads, looks, writes, recurses, here, hosts, code, scripts, variables, assignments, alias } = found;
  const steering = [...variables.filter(({ text }) => isSteering(text)), ...assignments.filter((word) => !isHarmlessAssignment(word))];
  const unlisted = [...found.unlisted, ...steering.map(({ text }) => text)];
  const isOtherShell = entry.posix === true && code.some((text) => BASH_SYNTAX.test(text));
  return {
    ...(readOnly && unlisted.length === 0 && { readOnly }),
    ...(unlisted.length > 0 && { unlisted }),
    ...(isOtherShell && { unknown: `\`${entry.names}\` may read its text otherwise than bash does.` }),
    reads: [...reads, ...scripts],
    looks,
    writes,
    ...(found.destroys && { destroys: found.destroys }),
    ...(recurses && { recurses }),
    ...(here !== undefined && { here }),
    ...(found.folder !== undefined && { folder: found.folder }),
    ...(entry.repository === true && {
      repository: { fromTop: found.fromTop === true },
    }),
    ...(entry.repository !== true && { searches: searchesOf(found) }),
    // A deny rule for a host holds for words that the entry does not list, too.
    hosts: unlisted.length === 0 ? hosts : [...new Set([...hosts, ...hostsIn(args)])],
    runs: found.runs.map((words) => withAdded(words, found)),
    code,
    scripts,
    ...(variables.length > 0 && { sets: variables.map(({ text }) => text) }),
    ...(alias !== undefined && { alias }),
  };
}

function searchesOf({ skipsHidden, only, follows }: EntryFacts): NonNullable<ProgramFacts["searches"]> {
  return { skipsHidden, ...(only !== undefined && { only }), follows: follows ? "all" : "nothing" };
}

function isHarmlessAssignment({ text, literal }: ShellWord): boolean {
  const at = text.indexOf("=");
  return literal && isHarmlessVariable(text.slice(0, at), text.slice(at + 1));
}

/** The command with what its runner adds: the files that `find` found, or words of the input of `xargs`. */
function withAdded(words: readonly ShellWord[], { adds, placeholder, looks, only, follows }: EntryFacts): readonly ShellWord[] {
  if (adds === undefined) return words;
  if (placeholder === undefined) return adds === "input" ? [...words, ADDED] : words;
  // Text that is added in the middle of a word may be code of it.
  return words.flatMap((word) => {
    if (!word.text.includes(placeholder)) return [word];
    if (word.text !== placeholder || adds === "input") return [{ ...word, literal: false, splits: false }];
    return foundFiles(looks, word, { ...(only !== undefined && { only }), follows: follows ? "all" : "files" });
  });
}

/** The words that `find` puts in the place of `{}`: files in the folders that it starts in. */
function foundFiles(
  starts: readonly ShellWord[],
  { text }: ShellWord,
  found: Omit<NonNullable<ShellWord["below"]>, "folder">,
): readonly ShellWord[] {
  const folders = starts.length > 0 ? starts : [{ ...ADDED, text: ".", literal: true, splits: false }];
  return folders.map((folder, index) => ({
    ...folder,
    text: `${folder.text.replace(/\/+$/, "")}/*`,
    globs: true,
    below: { folder: folder.text, ...found },
    written: index === 0 ? text : "",
  }));
}

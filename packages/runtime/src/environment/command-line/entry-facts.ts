import { hasAny } from "./compiled-form.ts";
import { pathsIn } from "./named-places.ts";
import type { ProgramForm } from "./programs/program-entry.ts";
import { literalWord, type ShellWord } from "./shell-word.ts";
import type { WordTaker } from "./word-taker.ts";

/** The files that a command deletes or overwrites. */
export interface DestroyedWords {
  /** Files, and folders with all that is in them. */
  readonly files: readonly ShellWord[];
  readonly trees: readonly ShellWord[];
  /** True if a link at the end of a name is followed. */
  readonly follows: boolean;
  /** True if files that git ignores stay as they are. */
  readonly sparesIgnored: boolean;
  /** True if it is there to delete, and its words do not say what: it may be anything. */
  readonly isAnything: boolean;
  /** Patterns of the names of the files in those folders. Absent: all of them. */
  readonly only?: readonly string[];
}

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
  /** Absent: its words do not say which files it deletes or overwrites. */
  readonly destroys?: DestroyedWords;
  /** It goes through the folders among these. */
  readonly recurses: boolean;
  /** It finds the files in its folder and below by itself, and does this to them. */
  readonly here?: "read" | "look" | "write";
  /** True if it names files by their paths from the top of a repository. */
  readonly fromTop?: boolean;
  /** The folder in which it works, if that is not the one of the line. */
  readonly folder?: ShellWord;
  /** It follows links when it goes through a folder. */
  readonly follows: boolean;
  /** It leaves out files with a name that begins with a dot, and those with a name that matches none of these patterns. */
  readonly skipsHidden: boolean;
  readonly only?: readonly string[];
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

/** Returns the facts about a command whose words were taken by their kinds. */
export function factsOfWords(words: {
  readonly form: ProgramForm;
  readonly taken: WordTaker;
  readonly options: ReadonlySet<string>;
  readonly runs: readonly (readonly ShellWord[])[];
  readonly adds: "found" | "input" | undefined;
  readonly only: readonly string[];
  /** An option was given that makes it more than a look. */
  readonly asks: boolean;
  readonly alias: readonly ShellWord[] | undefined;
}): EntryFacts {
  const { form, taken, options, runs, adds, only, alias } = words;
  const { looks, hosts, shell, scripts, variables, assignments, placeholder, revisions, refs, folders, archives, unlisted } = taken;
  const isAsked = form.needs !== undefined && !hasAny(form.needs, options);
  const reads = [...taken.reads, ...revisions, ...(isAsked ? [] : archives)];
  const writes = [...taken.writes, ...(isAsked ? archives : [])];
  // A script, a test or a server may read the files that it is told.
  const named = form.unasked === true ? [] : pathsIn(taken.plain);
  const here = hereOf(form, options, looks.length + writes.length + reads.length - revisions.length);
  const changes = isAsked || words.asks || here === "write" || [writes, refs, hosts, scripts].some((list) => list.length > 0);
  const names = only.length > 0 && !hasAny(form.onlyUnless ?? "", options) ? only : undefined;
  const destroys = destroyedWords(form, { writes, intos: taken.intos, linked: taken.linked, here, options, unlisted });
  return {
    understood: unlisted.length === 0,
    readOnly: unlisted.length === 0 && form.unasked === true && !changes,
    reads: [...reads, ...named],
    looks,
    writes,
    ...(destroys && { destroys: { ...destroys, ...(names && { only: names }) } }),
    recurses: form.recurses === true || (form.recurses !== undefined && hasAny(form.recurses, options)),
    follows: form.follows === true || (form.follows !== undefined && hasAny(form.follows, options)),
    skipsHidden: form.skipsHidden !== undefined && !hasAny(form.skipsHidden, options),
    ...(names && { only: names }),
    ...(here !== undefined && { here }),
    ...(folders[0] !== undefined && { folder: folders[0] }),
    ...(taken.fromTop === true && { fromTop: true }),
    hosts,
    runs,
    ...(adds !== undefined && runs.length > 0 && { adds }),
    ...(placeholder !== undefined && { placeholder }),
    code: shell.length === 0 ? [] : [shell.join(" ")],
    scripts,
    variables,
    assignments,
    unlisted: [...new Set(unlisted)],
    options,
    ...(alias !== undefined && { alias }),
  };
}

/** Returns the words for what it deletes or overwrites. `undefined` if they do not say it. */
function destroyedWords(
  form: ProgramForm,
  words: Pick<WordTaker, "writes" | "intos" | "linked" | "unlisted"> & {
    readonly here: EntryFacts["here"];
    readonly options: ReadonlySet<string>;
  },
): DestroyedWords | undefined {
  const { writes, intos, linked, here, options, unlisted } = words;
  const destruction = Object.entries(form.destroysWith ?? {}).find(([names]) => hasAny(names, options))?.[1] ?? form.destroys;
  const deletes = form.deletes === true || (form.deletes !== undefined && hasAny(form.deletes, options));
  // A deletion is one of the link itself.
  const follows = !deletes || destruction === "contents";
  const nothing: DestroyedWords = { files: [], trees: [], follows, sparesIgnored: false, isAnything: false };
  if (unlisted.length > 0 && destruction !== "none") return deletes ? { ...nothing, isAnything: true } : undefined;
  const own = writes.filter((word) => !linked.includes(word));
  // A word of git may be a branch: then all files change.
  const isHere = here === "write" || (destruction === "tracked" && own.length === 0 && usesFolder(form, options));
  const whole = [...own, ...(isHere ? [literalWord(".")] : [])];
  switch (destruction) {
    case "none":
      return nothing;
    case "files":
      return { ...nothing, files: own };
    case "trees":
      return { ...nothing, files: own, trees: whole.filter((word) => !intos.includes(word)) };
    case "contents":
      return { ...nothing, files: own, trees: whole };
    case "tracked":
      return { ...nothing, files: own, trees: whole, sparesIgnored: true };
    case undefined:
      return undefined;
  }
}

/** Returns its access to the folder it runs in. A revision has all files, unless some are named behind two dashes. */
function hereOf(form: ProgramForm, options: ReadonlySet<string>, named: number): "read" | "look" | "write" | undefined {
  const { here } = form;
  if (here === undefined || !usesFolder(form, options)) return undefined;
  return here.always === true || named === 0 ? here.kind : undefined;
}

/** True if it works on the folder it runs in unless files are named. */
function usesFolder({ here }: ProgramForm, options: ReadonlySet<string>): boolean {
  return here !== undefined && (here.with === undefined || hasAny(here.with, options));
}

import { placesOf } from "./paths.ts";
import type { Reading, Scope } from "./reading.ts";
import { type ShellWord, literalWord } from "./shell-word.ts";

const ANYTHING = "*";
/** They only print or compare their words. */
const ONLY_WORDS =
  /^(?:echo|printf|true|false|:|test|\[|exit|return|export|declare|local|readonly|unset|shift|set|basename|dirname|expr|seq|sleep|kill|wait|pwd|type|which|command|builtin|cd|read|env|xargs)$/;
/** They go through the folders that they are given. */
const INTO_FOLDERS = /^(?:[efz]?grep|rg|ag|ack|cp|mv|ln|tar|bsdtar|zip|7z|rsync|scp|diff|git|install)$/;
const LOOKS_BY_ITSELF = /^(?:rg|ag|ack)$/;
// The working directory, the root and open files of processes under another name.
const BEHIND_PROC = /^\/proc\/[^/]+\/(?:cwd|root|fd|task)(?:\/|$)/;

/** Notes what files a command may touch that its words don't name: those of patterns, variables, its input, and of folders that it goes through. */
export function noteUnclearFiles(
  command: {
    readonly name: string;
    readonly args: readonly ShellWord[];
    readonly touched: readonly ShellWord[];
    readonly addsArguments: boolean;
  },
  scope: Scope,
  reading: Reading,
): void {
  const { name, args, touched, addsArguments } = command;
  const add = (pattern: string): void => void reading.mayTouch.add(pattern);
  if (!ONLY_WORDS.test(name)) {
    if (addsArguments || args.some(({ literal, tilde, text }) => !literal || (tilde && !/^~(?:\/|$)/.test(text)))) add(ANYTHING);
    for (const word of args.flatMap(namedIn))
      for (const path of pathsOf(word, scope, reading)) {
        add(asPattern(path, word));
        if (INTO_FOLDERS.test(name)) add(`${asPattern(path, word)}/*`);
      }
  }
  for (const word of touched)
    for (const path of pathsOf(word, scope, reading)) {
      if (BEHIND_PROC.test(path)) add(ANYTHING);
      if (path === ANYTHING) add(ANYTHING);
      else if (INTO_FOLDERS.test(name)) add(`${asPattern(path, word)}/*`);
    }
  const isRecursive = /^[efz]?grep$/.test(name) && args.some(({ text }) => /^-[a-zA-Z]*[rR]|^--(?:dereference-)?recursive/.test(text));
  const isGitSearch = name === "git" && args.some(({ text }) => text === "grep" || text === "archive");
  const operands = args.filter(({ text }) => !text.startsWith("-"));
  if ((operands.length < 2 && (LOOKS_BY_ITSELF.test(name) || isRecursive)) || isGitSearch)
    for (const path of pathsOf(literalWord("."), scope, reading)) add(path === ANYTHING ? path : `${path}/*`);
}

/** What may be a file in a word: the word, or the value of `name=value`. Options and texts with blanks name none. */
function namedIn(word: ShellWord): readonly ShellWord[] {
  const { text, literal } = word;
  if (!literal || /\s/.test(text)) return [];
  const value = /^[\w-]+=(.+)$/s.exec(text)?.[1];
  return [...(text.startsWith("-") ? [] : [word]), ...(value === undefined ? [] : [{ ...word, text: value }])];
}

function pathsOf(word: ShellWord, scope: Scope, { workspace }: Reading): readonly string[] {
  return placesOf(word, scope, workspace)?.map(({ path }) => path) ?? [ANYTHING];
}

/** Whatever the shell may put there is any text to whoever holds it against something; a star in quotes is a star. */
function asPattern(path: string, { globs }: ShellWord): string {
  if (path === ANYTHING) return path;
  if (!globs) return path.replace(/[*\\]/g, "\\$&");
  return path.replace(/\[[^\]]*\]|[?*]+|[@+!?*]\([^)]*\)|\{[^}]*\}/g, "*");
}

import type { ShellWord } from "./shell-word.ts";

const LOOKS_LIKE_PATH = /^(?!https?:|git@|ssh:)[^\s"'`$;|&<>(){}]*[./][^\s"'`$;|&<>(){}]*$/;
const MAX_PATH = 300;
const URL = /^(?:https?|ftps?|ssh|git|wss?|rsync):\/\/(?:[^/@\s]*@)?(\[[\da-f:]+\]|[\w.-]+)/i;
const REMOTE = /^(?:[\w.-]+@)([\w.-]+):/;

/** Words that look like paths, and values of options that do: files that a program of no table may read. */
export function pathsIn(args: readonly ShellWord[]): readonly ShellWord[] {
  return args
    .flatMap((word) => {
      const at = word.text.indexOf("=");
      return [...(word.text.startsWith("-") ? [] : [word]), ...(at < 0 ? [] : [{ ...word, text: word.text.slice(at + 1) }])];
    })
    .map((word) => ({ ...word, text: word.text.replace(/^@/, "") }))
    .filter(({ text, literal }) => literal && text.length <= MAX_PATH && LOOKS_LIKE_PATH.test(text));
}

/** Hosts that are named in the arguments, and in values of options. */
export function hostsIn(args: readonly ShellWord[]): readonly string[] {
  return args.flatMap((word) => {
    const text = word.text.replace(/^--?[\w-]+=/, "");
    const host = URL.exec(text)?.[1] ?? REMOTE.exec(text)?.[1];
    return host === undefined ? [] : [host];
  });
}

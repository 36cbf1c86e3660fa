import { hasOption, sortArguments, splitOnce } from "./options.ts";
import type { ProgramFacts } from "./program-facts.ts";
import type { ShellWord } from "./shell-word.ts";

/** Programs whose operands they change. `last`: all but the last are read, and that is written. */
const CHANGES: { readonly [names: string]: "all" | "last" } = {
  "rm rmdir unlink shred touch mkdir mkfifo mknod truncate tee chmod chown chgrp chattr setfacl sponge gzip gunzip bzip2 xz patch dos2unix unix2dos":
    "all",
  "cp mv ln install rsync scp": "last",
};
const KINDS = new Map(Object.entries(CHANGES).flatMap(([names, kind]) => names.split(" ").map((name) => [name, kind] as const)));

const LOOKS_LIKE_PATH = /^(?!https?:|git@|ssh:)[^\s"'`$;|&<>(){}]*[./][^\s"'`$;|&<>(){}]*$/;
const MAX_PATH = 300;

/** Files that a program of no special kind gets as arguments, and what those that copy, move and delete do to them. */
export function fileFacts(name: string, args: readonly ShellWord[]): ProgramFacts {
  const { operands, options } = sortArguments(args);
  const values = options.flatMap((word) => {
    const value = splitOnce(word.text, "=")[1];
    return value === undefined ? [] : [{ ...word, text: value }];
  });
  const kind = KINDS.get(name);
  if (kind === "all") return { writes: operands };
  if (kind === "last") {
    const target = options.find(({ text }) => /^(?:-t.|--target-directory=)/.test(text));
    const into = target === undefined ? operands.slice(-1) : [{ ...target, text: target.text.replace(/^(?:-t|--target-directory=)/, "") }];
    const from = target === undefined && !hasOption(options, "t") ? operands.slice(0, -1) : operands;
    // In a folder, what is written has the name of what is read.
    const folder = into[0];
    const named =
      folder === undefined
        ? []
        : from.map((word) => ({
            ...folder,
            text: `${folder.text}/${word.text.replace(/\/+$/, "").replace(/^.*\//, "")}`,
            literal: folder.literal && word.literal,
          }));
    return { reads: from, writes: [...into, ...named, ...(name === "mv" ? from : [])] };
  }
  if (name === "dd") return { reads: named(args, "if"), writes: named(args, "of") };
  const outputs = options.flatMap((word, index) =>
    /^(?:-[a-zA-Z]*[oO]|--output|--output-document)$/.test(word.text)
      ? [args[args.indexOf(word) + 1] ?? word]
      : /^--output/.test(word.text) && index >= 0
        ? [{ ...word, text: splitOnce(word.text, "=")[1] ?? "" }]
        : [],
  );
  const paths = [...operands, ...values]
    .map((word) => ({ ...word, text: word.text.replace(/^@/, "") }))
    .filter(({ text, literal }) => literal && text.length <= MAX_PATH && LOOKS_LIKE_PATH.test(text));
  return { ...(paths.length > 0 && { reads: paths }), ...(outputs.length > 0 && { writes: outputs }) };
}

function named(args: readonly ShellWord[], key: string): readonly ShellWord[] {
  return args.filter(({ text }) => text.startsWith(`${key}=`)).map((word) => ({ ...word, text: word.text.slice(key.length + 1) }));
}

const URL = /^(?:https?|ftps?|ssh|git|wss?|rsync):\/\/(?:[^/@\s]*@)?(\[[\da-f:]+\]|[\w.-]+)/i;
const REMOTE = /^(?:[\w.-]+@)([\w.-]+):/;

/** Hosts that are named in the arguments. */
export function hostsIn(args: readonly ShellWord[]): readonly string[] {
  return args.flatMap(({ text }) => {
    const host = URL.exec(text)?.[1] ?? REMOTE.exec(text)?.[1];
    return host === undefined ? [] : [host];
  });
}

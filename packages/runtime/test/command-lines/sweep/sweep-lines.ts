import type { ProgramEntry, ProgramForm } from "../../../src/environment/command-line/programs/program-entry.ts";
import type { HostileFolder } from "./hostile-folder.ts";

/** A subcommand, or the program itself, with the words that lead to it. */
export interface SweptForm {
  readonly words: readonly string[];
  readonly form: ProgramForm;
}

export function formsOf(name: string, entry: ProgramEntry): readonly SweptForm[] {
  const below = (words: readonly string[], form: ProgramForm): readonly SweptForm[] => [
    { words, form },
    ...Object.entries(form.subcommands ?? {}).flatMap(([names, sub]) => below([...words, names.split(" ")[0] as string], sub)),
  ];
  return below([name], entry);
}

const LETTERS = [..."abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"];
/** Operands that make programs do something else than read: subcommands, and clusters of options without a dash. */
const WORDS = [
  "version",
  "exec",
  "run",
  "expire",
  "e",
  "axe",
  "auxe",
  "eww",
  "x",
  "-",
  "--",
  "+1",
  "!",
  ";",
  "a=b",
  "CC=./marker.sh",
  "$(shell ./marker.sh)",
];
/** Words that make a program do its ordinary work, by the kinds of its operands. */
const ORDINARY: { readonly [kind: string]: string } = {
  read: "input.txt",
  look: "input.txt",
  number: "1",
  jq: ".",
  sed: "p",
  awk: "1",
  revision: "HEAD",
  format: "+%F",
  archive: "input.txt",
};

function ordinaryOperands({ operands }: ProgramForm): readonly string[] {
  return (operands ?? "")
    .split(" ")
    .filter((kind) => kind !== "" && !/^(?:write|into|command|host|ref|remote)/.test(kind))
    .map((kind) => ORDINARY[kind.replace("...", "")] ?? "a");
}

/** Options in the lists of a form. */
function listedOptions(form: ProgramForm): ReadonlySet<string> {
  const kinds = [form.values, form.optional, form.pairs].flatMap((lists) => Object.values(lists ?? {}));
  const lists = [form.flags, form.asks, form.alone, ...kinds];
  return new Set(lists.flatMap((list) => (list ?? "").split(/\s+/)).filter((option) => option !== ""));
}

/** Long options, and words behind one dash, that a help text holds. */
function helpOptions(help: string, form: ProgramForm): readonly string[] {
  const found = help.match(form.singleDash === true ? /(?<![\w-])--?[a-zA-Z][\w-]+/g : /(?<![\w-])--[a-zA-Z][\w-]+/g);
  return found ?? [];
}

/** Lines with one option each: alone, with a value attached, with a value as the next word, and long ones abbreviated. */
export function optionLines({ words, form }: SweptForm, help: string, { outer, marker }: HostileFolder): readonly (readonly string[])[] {
  const operands = ordinaryOperands(form);
  const listed = listedOptions(form);
  const lines: string[][] = [];
  const add = (...middle: readonly string[]): void => void lines.push([...words, ...middle, ...operands]);
  const withValues = (option: string, attach: string): void => {
    // The marker is a value of listed options alone: others are not understood with the canary either.
    add(`${option}${attach}${outer}`);
    add(option, outer);
    add(`${option}${attach}@${outer}`);
    if (listed.has(option)) add(`${option}${attach}${marker}`);
  };
  add();
  lines.push([...words]);
  for (const value of [outer, marker, `@${outer}`, "kept/inner.txt", ...WORDS]) {
    lines.push([...words, value], [...words, ...operands, value]);
  }
  for (const letter of LETTERS) {
    add(`-${letter}`);
    if (listed.has(`-${letter}`)) lines.push([...words, `-${letter}`]);
    withValues(`-${letter}`, "");
    lines.push([...words, letter], [...words, `+${letter}`]);
  }
  for (const option of new Set([...helpOptions(help, form), ...[...listed].filter((one) => one.length > 2)])) {
    add(option);
    withValues(option, "=");
    for (const length of new Set([option.length - 1, 5])) {
      if (length >= option.length || length < 4) continue;
      add(option.slice(0, length));
      add(`${option.slice(0, length)}=${outer}`);
    }
  }
  return lines;
}

/** A word as the shell takes it literally. */
export function quoted(word: string): string {
  return /^[\w./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

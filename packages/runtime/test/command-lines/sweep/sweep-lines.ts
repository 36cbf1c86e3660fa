import { tier } from "../../../../../test/tier.ts";
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
    if (tier === "soak") add(`${option}${attach}@${outer}`);
    if (listed.has(option)) add(`${option}${attach}${marker}`);
  };
  add();
  lines.push([...words]);
  const isWhole = words.length === 1;
  for (const value of [outer, marker, `@${outer}`, "kept/inner.txt", ...(isWhole ? WORDS : [])]) {
    lines.push([...words, value], [...words, ...operands, value]);
  }
  for (const letter of LETTERS) {
    add(`-${letter}`);
    withValues(`-${letter}`, "");
    if (!isWhole) continue;
    if (listed.has(`-${letter}`)) lines.push([...words, `-${letter}`]);
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

/** Lines with several listed options each, drawn with a seed, since an option may change what another one means. */
export function combinedLines({ words, form }: SweptForm, { outer }: HostileFolder, seed: number): readonly (readonly string[])[] {
  const listed = [...listedOptions(form)];
  const operands = ordinaryOperands(form);
  if (listed.length < 2) return [];
  let state = (seed * 2_654_435_761 + words.join(" ").length) >>> 0;
  const next = (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  return Array.from({ length: COMBINED }, () => {
    const options = Array.from({ length: 2 + next(2) }, () => listed[next(listed.length)] as string);
    const [first = "", ...others] = options;
    const middle = next(2) === 0 ? [first, outer, ...others] : options;
    return next(2) === 0 ? [...words, ...middle, ...operands] : [...words, ...operands, ...middle];
  });
}
const COMBINED = tier === "soak" ? 50 : 8;

/** A word as the shell takes it literally. */
export function quoted(word: string): string {
  return /^[\w./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

import type { ShellWord } from "./shell-word.ts";

export interface OptionSpec {
  /** Letters of options that take no value, and of those that take one. */
  readonly flags?: string;
  readonly values?: string;
  readonly longFlags?: readonly string[];
  readonly longValues?: readonly string[];
}

/** The words after the options of a program that stops at its first operand. `undefined` where an option isn't known. */
export function operandsAfter(
  args: readonly ShellWord[],
  { flags = "", values = "", longFlags = [], longValues = [] }: OptionSpec,
): readonly ShellWord[] | undefined {
  for (let index = 0; index < args.length; index++) {
    const { text, literal } = args[index] as ShellWord;
    if (!text.startsWith("-") || text === "-") return args.slice(index);
    if (!literal) return undefined;
    if (text === "--") return args.slice(index + 1);
    if (text.startsWith("--")) {
      const [name = "", value] = splitOnce(text.slice(2), "=");
      if (longFlags.includes(name)) continue;
      if (!longValues.includes(name)) return undefined;
      if (value === undefined) index++;
      continue;
    }
    for (let at = 1; at < text.length; at++) {
      const letter = text[at] as string;
      if (values.includes(letter)) {
        if (at === text.length - 1) index++;
        break;
      }
      if (!flags.includes(letter)) return undefined;
    }
  }
  return [];
}

/** Options and operands, where both may be mixed. A word that is expanded counts as an operand. */
export function sortArguments(args: readonly ShellWord[]): {
  readonly options: readonly ShellWord[];
  readonly operands: readonly ShellWord[];
} {
  const end = args.findIndex(({ text, literal }) => literal && text === "--");
  const before = end < 0 ? args : args.slice(0, end);
  const isOption = ({ text }: ShellWord): boolean => text.startsWith("-") && text !== "-";
  return {
    options: before.filter(isOption),
    operands: [...before.filter((word) => !isOption(word)), ...(end < 0 ? [] : args.slice(end + 1))],
  };
}

/**
 * Whether one of these options is there. Long ones count in any abbreviation that GNU programs take, short ones anywhere in a
 * cluster: better one too many than one too few.
 */
export function hasOption(args: readonly ShellWord[], letters: string, long: readonly string[] = []): boolean {
  return args.some(({ text }) => {
    if (text.startsWith("--") && text.length > 2) {
      const name = splitOnce(text.slice(2), "=")[0] as string;
      return long.some((option) => option.startsWith(name));
    }
    if (!text.startsWith("-") || text.length < 2) return false;
    return [...text.slice(1)].some((letter) => letters.includes(letter)) || long.includes(text.slice(1));
  });
}

export function splitOnce(text: string, separator: string): readonly [string, string | undefined] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + separator.length)];
}

import type { CommandEffect } from "@keelson/protocol";
import { calculatesWithArguments } from "./arithmetic.ts";
import type { ProgramFacts } from "./program-facts.ts";
import { type Reading, type Scope, shorten } from "./reading.ts";
import type { ShellWord } from "./shell-word.ts";

const CALCULATES = /[\s(!&|]-(?:eq|ne|lt|le|gt|ge|v|R)\s/;
const OPERATORS = /(?<=[\s(!&|])-[A-Za-z]+(?=\s)/g;
const UNARY = /^-[abcdefghknprstuwxGLNOSz]$/;
const OF_FILES = /^-[abcdefghkprsuwxGLNOS]$/;
const BINARY = /^(?:==?|!=|<|>|-(?:eq|ne|lt|le|gt|ge|nt|ot|ef))$/;

/** Reads `[[ … ]]`, which calculates with what it compares as numbers, and in `-v` with the name that it is given. */
export function readTest(written: string, scope: Scope, reading: Reading): void {
  const text = written.replaceAll("\\\n", "");
  const isDoubtful =
    CALCULATES.test(` ${text} `) &&
    (/['"\\]?\w*\[(?![[\s])[^\]]*[$`]/.test(text) || calculatesWithArguments(text.replace(OPERATORS, " "), reading));
  if (isDoubtful) reading.unknown.add(`What \`${shorten(text)}\` runs where it calculates can't be read.`);
  const why = scope.caution;
  const command: CommandEffect = { text, ...(why === undefined ? { readOnly: true } : { caution: why }) };
  reading.commands.push(command);
}

/**
 * Reads the words of `test`. Its operators have to be written out, because a computed word may be one: `-v` calculates with its name. In the
 * forms of one, two and three words, bash takes a quoted word in the place of an operand for one.
 */
export function readTestWords(args: readonly ShellWord[]): ProgramFacts {
  const looks: ShellWord[] = [];
  const refused = args.filter(({ splits, globs }) => splits || globs);
  const isPlain = args.every(({ literal }) => literal);
  const forms = isPlain ? split(args) : [args];
  const fits = refused.length === 0 && forms.every((form) => readForm(form, looks));
  if (fits) return { readOnly: true, looks };
  return { unlisted: (refused.length > 0 ? refused : args).map(({ text }) => text) };
}

/** The parts between `-a` and `-o`. */
function split(args: readonly ShellWord[]): readonly (readonly ShellWord[])[] {
  const forms: ShellWord[][] = [[]];
  args.forEach((word, index) => {
    const joins = index > 0 && index < args.length - 1 && args.length > 4 && (word.text === "-a" || word.text === "-o");
    if (joins) forms.push([]);
    else forms.at(-1)?.push(word);
  });
  return forms;
}

function readForm(form: readonly ShellWord[], looks: ShellWord[]): boolean {
  const words = form[0]?.literal === true && form[0].text === "!" && form.length > 1 ? form.slice(1) : form;
  const [first, second] = words;
  if (words.length <= 1) return true;
  if (words.length === 2 && first?.literal === true && second !== undefined) {
    if (first.text === "-v") return second.literal && /^[A-Za-z_]\w*$/.test(second.text);
    if (OF_FILES.test(first.text) && second.literal) looks.push(second);
    return UNARY.test(first.text);
  }
  return words.length === 3 && second?.literal === true && BINARY.test(second.text);
}

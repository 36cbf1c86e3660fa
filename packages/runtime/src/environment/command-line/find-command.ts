import type { ProgramReader } from "./program-facts.ts";
import type { ShellWord } from "./shell-word.ts";

const RUNS = /^-(?:exec|execdir|ok|okdir)$/;
const WRITES = /^-(?:fprint|fprint0|fprintf|fls)$/;

/** `find` starts programs, deletes and writes by some of its words; what it finds, they get as arguments. */
export const find: ProgramReader = (args) => {
  const runs: (readonly ShellWord[])[] = [];
  const patterns: ShellWord[] = [];
  const writes: ShellWord[] = [];
  let deletes = false;
  let unclear = args.some(({ literal }) => !literal);
  const paths = args
    .slice(0, args.findIndex(({ text }) => /^[-(!]/.test(text)) + 1 || args.length)
    .filter(({ text }) => !/^[-(!]/.test(text));
  for (let index = 0; index < args.length; index++) {
    const word = args[index] as ShellWord;
    if (RUNS.test(word.text)) {
      const end = args.findIndex(({ text }, at) => at > index && (text === ";" || (text === "+" && args[at - 1]?.text === "{}")));
      const command = args.slice(index + 1, end < 0 ? undefined : end);
      if (end < 0) unclear = true;
      if (command.length > 0) runs.push(command);
      index = end < 0 ? args.length : end;
    } else if (word.text === "-delete") deletes = true;
    else if (WRITES.test(word.text)) {
      const target = args[index + 1];
      if (target !== undefined) writes.push(target);
    } else if (word.text === "-files0-from") unclear = true;
    else if (/^-i?(?:name|path|wholename)$/.test(word.text) && args[index + 1] !== undefined) patterns.push(args[++index] as ShellWord);
  }
  const isPure = !deletes && writes.length === 0 && !unclear;
  return {
    ...(isPure && { readOnly: true }),
    ...(unclear && { unknown: "What find runs or looks for can't be read." }),
    looks: paths,
    ...(runs.length > 0 && { runs, addsArguments: true, placeholder: "{}", reads: patterns.map((word) => ({ ...word, globs: false })) }),
    ...((deletes || writes.length > 0) && { writes: deletes ? [...paths, ...patterns, ...writes] : writes }),
  };
};

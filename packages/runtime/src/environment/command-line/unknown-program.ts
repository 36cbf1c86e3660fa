import { hostsIn, pathsIn } from "./named-places.ts";
import type { ProgramFacts } from "./program-facts.ts";
import type { ShellWord } from "./shell-word.ts";

/** Returns the facts about a program that is in no table. Words that are plain may be covered by a wildcard, options may not. */
export function factsOfUnknown(args: readonly ShellWord[]): ProgramFacts {
  const unlisted = args.filter(({ literal, text, dashed }) => !literal || dashed === true || /^[-+@]/.test(text));
  return {
    unknownProgram: true,
    ...(unlisted.length > 0 && { unlisted: [...new Set(unlisted.map(({ text }) => text))] }),
    reads: pathsIn(args),
    hosts: hostsIn(args),
  };
}

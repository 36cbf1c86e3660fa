import { builtinReaders } from "./builtin-readers.ts";
import { factsByEntry } from "./facts-by-entry.ts";
import type { ProgramFacts } from "./program-facts.ts";
import { programEntry } from "./programs/index.ts";
import { type ShellWord, literalWord } from "./shell-word.ts";
import { factsOfUnknown } from "./unknown-program.ts";

/** Folders of the programs of the machine: a program of a known name in one of them is the one of that name. */
const MACHINE = /^\/(?:usr\/(?:local\/)?)?s?bin\/[^/]+$/;

/**
 * Returns the facts about a program with its arguments: by the entry of its program alone, if it has one.
 * @param program its name or path
 * @param fed true if its standard input is given by the line
 */
export function factsOf(program: string, args: readonly ShellWord[], fed: boolean): ProgramFacts {
  const name = program.slice(program.lastIndexOf("/") + 1);
  const isPath = program !== name;
  const facts = knownFacts(name, args, { fed, isPath }) ?? factsOfUnknown(args);
  if (!isPath) return facts;
  // A program in a folder is not the one that is known by its name, but may be, so what it would start is read all the same.
  const { readOnly: _, entersFolder: __, ...others } = facts;
  return {
    ...others,
    ...(!MACHINE.test(program) && { unknownProgram: true }),
    scripts: [...(facts.scripts ?? []), literalWord(program)],
  };
}

function knownFacts(
  name: string,
  args: readonly ShellWord[],
  { fed, isPath }: { readonly fed: boolean; readonly isPath: boolean },
): ProgramFacts | undefined {
  const entry = programEntry(name);
  if (entry !== undefined && !(isPath && entry.builtin === true)) return factsByEntry(entry, args);
  const builtin = isPath ? undefined : builtinReaders.get(name);
  return builtin?.(args, { name, fed });
}

import { builtinReaders } from "./builtin-readers.ts";
import { connecting } from "./connecting-programs.ts";
import { factsByEntry } from "./facts-by-entry.ts";
import { fileFacts, hostsIn } from "./file-changing-programs.ts";
import { find } from "./find-command.ts";
import { git } from "./git-command.ts";
import { interpreterNamed } from "./interpreters.ts";
import type { ProgramFacts, ProgramReader } from "./program-facts.ts";
import { ssh, startingCaution } from "./program-starters.ts";
import { programEntry } from "./programs/index.ts";
import { readOnlyFacts } from "./read-only-programs.ts";
import { runners } from "./runners.ts";
import { type ShellWord, literalWord } from "./shell-word.ts";
import { awk, sed } from "./text-scripts.ts";
import { factsOfUnknown } from "./unknown-program.ts";

const SPECIAL: ReadonlyMap<string, ProgramReader> = new Map<string, ProgramReader>([
  ["git", git],
  ["find", find],
  ["sed", sed],
  ["gsed", sed],
  ["awk", awk],
  ["gawk", awk],
  ["mawk", awk],
  ["nawk", awk],
  ["ssh", ssh],
]);
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
  return builtin?.(args, { name, fed }) ?? legacyFacts(name, args, fed);
}

function legacyFacts(name: string, args: readonly ShellWord[], fed: boolean): ProgramFacts | undefined {
  const where = { name, fed };
  const reader = runners.get(name) ?? interpreterNamed(name) ?? SPECIAL.get(name);
  const starting = startingCaution(name, args);
  if (starting !== undefined) return { ...fileFacts(name, args), unknown: starting, hosts: hostsIn(args) };
  const own = reader?.(args, where);
  if (own !== undefined && Object.keys(own).length > 0)
    return own.runs === undefined && own.readOnly !== true && own.code === undefined
      ? { ...fileFacts(name, args), hosts: hostsIn(args), ...own }
      : own;
  const known = readOnlyFacts(name, args, where.fed);
  if (known !== undefined && Object.keys(known).length > 0) return known;
  const connected = connecting(name, args);
  if (Object.keys(connected).length === 0 && reader === undefined && known === undefined && fileFacts(name, args).writes === undefined)
    return undefined;
  return { ...fileFacts(name, args), ...connected, hosts: [...new Set([...hostsIn(args), ...(connected.hosts ?? [])])] };
}

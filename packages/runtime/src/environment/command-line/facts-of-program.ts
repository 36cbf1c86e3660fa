import { connecting } from "./connecting-programs.ts";
import { fileFacts, hostsIn } from "./file-changing-programs.ts";
import { find } from "./find-command.ts";
import { git } from "./git-command.ts";
import { interpreterNamed } from "./interpreters.ts";
import type { ProgramFacts, ProgramReader } from "./program-facts.ts";
import { ssh, startingCaution } from "./program-starters.ts";
import { readOnlyFacts } from "./read-only-programs.ts";
import { runners } from "./runners.ts";
import { shellBuiltins } from "./shell-builtins.ts";
import { type ShellWord, literalWord } from "./shell-word.ts";
import { awk, sed } from "./text-scripts.ts";

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

/**
 * Returns the facts about a program with its arguments, from the tables of all kinds of programs.
 * @param program its name or path
 * @param fed true if its standard input is given by the line
 */
export function factsOf(program: string, args: readonly ShellWord[], fed: boolean): ProgramFacts {
  const name = program.slice(program.lastIndexOf("/") + 1);
  const where = { name, fed };
  const isPath = program !== name;
  // A program in a folder is not the one that is known by its name, but may be, so what it would start is read all the same.
  const facts = knownFacts(name, args, where, isPath);
  if (!isPath) return facts;
  const { readOnly: _, entersFolder: __, ...others } = facts;
  return { ...others, scripts: [...(facts.scripts ?? []), literalWord(program)] };
}

function knownFacts(
  name: string,
  args: readonly ShellWord[],
  where: { readonly name: string; readonly fed: boolean },
  isPath: boolean,
): ProgramFacts {
  const reader: ProgramReader | undefined =
    (isPath ? undefined : shellBuiltins.get(name)) ?? runners.get(name) ?? interpreterNamed(name) ?? SPECIAL.get(name);
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
  return { ...fileFacts(name, args), ...connected, hosts: [...new Set([...hostsIn(args), ...(connected.hosts ?? [])])] };
}

import type { ProgramEntry } from "./program-entry.ts";
import { shellBuiltins } from "./shell-builtins.ts";
import { textPrograms } from "./text-programs.ts";

/** The tables of all topics. */
const topics: readonly (readonly ProgramEntry[])[] = [shellBuiltins, textPrograms];
let entries: ReadonlyMap<string, ProgramEntry> | undefined;

/** Returns the entry of a program by its name, which may end with a version. */
export function programEntry(name: string): ProgramEntry | undefined {
  entries ??= new Map(topics.flat().flatMap((entry) => entry.names.split(" ").map((one): [string, ProgramEntry] => [one, entry])));
  const found = entries.get(name);
  if (found !== undefined) return found;
  const bare = entries.get(name.replace(/(?<=[a-z])-?\d+(?:\.\d+)*$/, ""));
  return bare?.versions === true ? bare : undefined;
}

/** All entries, for tests that go over them. */
export function allProgramEntries(): readonly ProgramEntry[] {
  return topics.flat();
}

import type { ProgramEntry } from "./program-entry.ts";
import { runners } from "./runners.ts";
import { shellBuiltins } from "./shell-builtins.ts";
import { textPrograms } from "./text-programs.ts";
import { archivePrograms } from "./archive-programs.ts";
import { compiledLanguages } from "./compiled-languages.ts";
import { filePrograms } from "./file-programs.ts";
import { gitPrograms } from "./git.ts";
import { javascriptTools } from "./javascript-tools.ts";
import { lookPrograms } from "./look-programs.ts";
import { networkPrograms } from "./network-programs.ts";
import { packageManagers } from "./npm.ts";
import { pythonTools } from "./python.ts";
import { scriptPrograms } from "./script-programs.ts";
import { searchPrograms } from "./search-programs.ts";
import { systemPrograms } from "./system-programs.ts";
import { versionPrograms } from "./version-programs.ts";

/** The tables of all topics. */
const topics: readonly (readonly ProgramEntry[])[] = [
  shellBuiltins,
  runners,
  textPrograms,
  archivePrograms,
  compiledLanguages,
  filePrograms,
  gitPrograms,
  javascriptTools,
  lookPrograms,
  networkPrograms,
  packageManagers,
  pythonTools,
  scriptPrograms,
  searchPrograms,
  systemPrograms,
  versionPrograms,
];
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

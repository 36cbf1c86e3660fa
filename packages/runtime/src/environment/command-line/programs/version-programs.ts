import type { ProgramEntry } from "./program-entry.ts";

/**
 * Programs of which only the version is printed unasked. Those that obey files of the folder even then are in no table: `rustc` takes the toolchain
 * that a file names, `bundle`, `composer`, `dotnet` and `swift` another version of themselves.
 */
export const versionPrograms: readonly ProgramEntry[] = [
  { names: "vim nvim less", runsInput: true, alone: "--version" },
  { names: "perl ruby", versions: true, runsInput: true, alone: "--version" },
  { names: "psql mysql sqlite3 redis-cli", runsInput: true, alone: "--version" },
  { names: "kubectl terraform helm", alone: "--help" },
];

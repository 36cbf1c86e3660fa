import type { ProgramEntry } from "./program-entry.ts";

/** Builtins of the shell that print, wait and look. */
export const shellBuiltins: readonly ProgramEntry[] = [{ names: "jobs", flags: "-l -n -p -r -s", operands: "text...", unasked: true }];

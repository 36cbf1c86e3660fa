import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join, resolve } from "node:path";
import type { CoveredFiles } from "./covered-files.ts";

/** A program with its arguments, and where it starts. */
export interface StartedProgram {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** `PATH`, where programs without a folder are looked for. */
  readonly path: string;
}

/** Looks for a program as the system does. Folders of `PATH` within the project count, also for a program that is not there yet. */
export function findProgram({ program, cwd, path }: StartedProgram, files: CoveredFiles): string | undefined {
  if (program.includes("/")) return resolve(cwd, program);
  for (const folder of path.split(delimiter)) {
    const candidate = isAbsolute(folder) ? join(folder, program) : resolve(cwd, folder, program);
    if (files.isWithin(candidate)) files.add(candidate);
    if (isExecutable(candidate)) return candidate;
  }
  return undefined;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

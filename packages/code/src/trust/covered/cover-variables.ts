import { resolve } from "node:path";
import type { CoveredFiles } from "./covered-files.ts";

/** Values that cannot name a file: words, addresses of servers, and variables of the person, with a word if they are not set. */
const PLAIN_VALUE = /^(?:\$\{\w+(?::-[\w@ :,+-]*)?\}|[\w@ :,+-])*$/;
const ADDRESS = /^(?:https?|wss?):\/\/[\w.:/?&=%~+-]+$/;

/** Adds what the variables of a program may lead it to. One that may name a file, or an option, is not understood. */
export function coverVariables(env: { readonly [name: string]: string }, cwd: string, files: CoveredFiles): void {
  for (const [name, value] of Object.entries(env)) {
    if (value.startsWith("/") && !isNearProject(value, files.project)) continue;
    if (!(PLAIN_VALUE.test(value) || ADDRESS.test(value)) || /(?:^|\s)-/.test(value)) files.notUnderstood(`the variable ${name}=${value}`);
    // A word may be the name of a file or a folder, also of one that comes later.
    else
      for (const word of value.split(/[\s:,]+/))
        if (/^[\w@+-]+$/.test(word) && files.addPossible(resolve(cwd, word))) files.notUnderstood(`the variable ${name}=${value}`);
  }
}

/** Variables of the person that interpreters and the loader of programs obey. */
const OBEYED: { readonly [interpreter: string]: RegExp } = {
  shell: /^(?:LD|DYLD)_/,
  node: /^(?:LD|DYLD|NODE)_/,
  python: /^(?:LD_|DYLD_|PYTHON)/,
};

/** Values that switch something, and name no file. */
const FLAG = /^(?:\d+|ignore|default|error|always|once|utf-?8|on|off|true|false|production|development|test)$/i;

/** Adds what the person's own variables may lead an interpreter to: a relative path, or one in the project, is not understood. */
export function coverInherited(
  interpreter: "shell" | "node" | "python",
  env: { readonly [name: string]: string | undefined },
  files: CoveredFiles,
): void {
  for (const [name, value = ""] of Object.entries(env)) {
    if (OBEYED[interpreter]?.test(name) !== true || value === "" || name === "NODE_V8_COVERAGE") continue;
    const isPlain =
      name === "NODE_OPTIONS"
        ? value
            .trim()
            .split(/\s+/)
            .every((option) => /^--[\w-]+(?:=\d+)?$/.test(option))
        : value.split(":").every((part) => FLAG.test(part) || (part.startsWith("/") && !isNearProject(part, files.project)));
    if (!isPlain) files.notUnderstood(`your variable ${name}=${value}`);
  }
}

/** True if one is within the other, or if it is a list of paths. */
function isNearProject(value: string, project: string): boolean {
  const path = resolve(value);
  return /[\s:;$]/.test(value) || path.startsWith(project) || project.startsWith(path);
}

import { basename, isAbsolute } from "node:path";
import type { CallEffects } from "@keelson/protocol";
import { isWithin } from "./policy-path.ts";
import type { CommandPolicy } from "./sandbox-policy.ts";

/** Builtins of the shell that start nothing: an allow list of programs is not about them. */
const BUILTINS: ReadonlySet<string> = new Set(
  ": [ break cd continue declare dirs echo exit export false getopts jobs let local mapfile popd printf pushd pwd read readarray readonly return set shift test times trap true type typeset ulimit umask unset wait".split(
    " ",
  ),
);
const ASSIGNMENT = /^\w+(?:\[[^\]]*\])?\+?=/;
const USUAL_FOLDERS = ["/usr/bin", "/bin", "/usr/local/bin"];

/** The programs of a call that a policy refuses, a sentence each. Denied wins. */
export function judgeCommands({ allowed, denied = [] }: CommandPolicy, { commands = [] }: CallEffects): readonly string[] {
  const refused = commands.flatMap(({ text, aliases = [] }) => {
    const program = programOf(text);
    // A script that a shell is given is found by its own name, too.
    const hit = [text, ...aliases].map(programOf).find((name) => denied.includes(name) || denied.includes(basename(name)));
    if (hit !== undefined) return [`It starts ${JSON.stringify(hit)}, which the policy denies.`];
    if (allowed === undefined || BUILTINS.has(program) || ASSIGNMENT.test(program) || isAllowed(allowed, program)) return [];
    return [`It starts ${JSON.stringify(program)}, which the policy does not allow.`];
  });
  return [...new Set(refused)];
}

function programOf(text: string): string {
  return text.split(" ", 1)[0] ?? "";
}

/** What can't be known is refused where only some programs are allowed. */
export function judgeUnknownCommands({ allowed }: CommandPolicy, { unknown: [first] = [] }: CallEffects): readonly string[] {
  if (allowed === undefined || first === undefined) return [];
  return [`The policy allows only some programs, and which this starts can't be told. ${first}`];
}

function isAllowed(allowed: readonly string[], program: string): boolean {
  if (allowed.includes(program)) return true;
  return isAbsolute(program) && allowed.includes(basename(program)) && USUAL_FOLDERS.some((folder) => isWithin(program, folder));
}

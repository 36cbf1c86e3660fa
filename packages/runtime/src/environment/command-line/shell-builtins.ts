import { isSteering } from "./assignments.ts";
import { hasOption } from "./options.ts";
import type { ProgramFacts, ProgramReader } from "./program-facts.ts";
import type { ShellWord } from "./shell-word.ts";

const HARMLESS: ProgramFacts = { readOnly: true };

/** Builtins that set variables by name. A subscript is calculated, and a steering variable changes what runs. */
function setting(names: readonly ShellWord[], builtin: string): ProgramFacts {
  for (const { text, literal } of names) {
    const name = /^(\w+)\+?(?:=|$)/.exec(text)?.[1];
    if (!literal || name === undefined) return { unknown: `Which variable ${builtin} sets can't be read.` };
    if (isSteering(name))
      return { unknown: `${name} is set, which changes what runs.`, caution: `${name} is set, which changes what runs.` };
  }
  return HARMLESS;
}

/** Operands of builtins whose options may stand in clusters. */
function operands(args: readonly ShellWord[], values: string): readonly ShellWord[] {
  for (let index = 0; index < args.length; index++) {
    const { text } = args[index] as ShellWord;
    if (text === "--") return args.slice(index + 1);
    if (!/^[-+]./.test(text)) return args.slice(index);
    const at = [...text].findIndex((letter, position) => position > 0 && values.includes(letter));
    if (at === text.length - 1) index++;
  }
  return [];
}

const evaluate: ProgramReader = (args) => ({
  unknown: "What `eval` runs is code that rules don't read.",
  ...(args.length > 0 && args.every(({ literal }) => literal) && { code: [args.map(({ text }) => text).join(" ")] }),
});

const source: ProgramReader = (args, { name }) => ({
  unknown: `What \`${name}\` runs in this shell is a file that rules don't read.`,
  scripts: args.slice(0, 1),
});

const trap: ProgramReader = (args) => {
  const [action] = args[0]?.text === "--" ? args.slice(1) : args;
  if (action === undefined || (action.literal && /^(?:-|-[lp]|)$/.test(action.text))) return HARMLESS;
  return action.literal ? { readOnly: true, code: [action.text] } : { unknown: "What `trap` runs can't be read." };
};

const declare: ProgramReader = (args, { name }) => {
  const flags = args.filter(({ text }) => /^[-+]/.test(text));
  if (!flags.every(({ literal }) => literal) || flags.some(({ text }) => /[ni]/.test(text) && name !== "export" && name !== "readonly"))
    return { unknown: `\`${name}\` makes a variable that is calculated or stands for another.` };
  if (name === "export" && flags.some(({ text }) => text.includes("n"))) return HARMLESS;
  return setting(
    args.filter(({ text }) => !/^[-+]/.test(text)),
    name,
  );
};

const printf: ProgramReader = ([format, ...args]) => {
  if (format === undefined || format.text === "-" || format.text === "--" || !/^[-$`]/.test(format.text))
    return format?.splits === true ? { unknown: "Which variable printf sets can't be read." } : HARMLESS;
  // A format that is expanded may become `-vPATH`.
  if (!format.literal) return { unknown: "Which variable printf sets can't be read." };
  if (!format.text.startsWith("-v")) return HARMLESS;
  const name = format.text === "-v" ? args[0] : { ...format, text: format.text.slice(2) };
  return name === undefined ? HARMLESS : setting([name], "printf");
};

const entering: ProgramReader = (args, { name }) => {
  const rest = operands(args, "");
  const [target] = rest;
  if (name !== "cd" || rest.length !== 1 || target === undefined || target.text === "-" || target.globs) return { entersFolder: "unclear" };
  return { readOnly: true, looks: [target], entersFolder: target };
};

/** Options of `set` under which the shell reads and starts what follows as it would without them. */
const HARMLESS_FLAGS = /^[-+][abefhmnuvxBCET]*$/;
export const HARMLESS_SHELL_OPTIONS: RegExp =
  /^(?:allexport|braceexpand|emacs|errexit|errtrace|functrace|hashall|ignoreeof|interactive-comments|monitor|noclobber|noexec|noglob|nolog|notify|nounset|onecmd|pipefail|verbose|vi|xtrace)$/;

/** `set -k` takes assignments out of arguments, and `set -H` runs words of earlier lines. */
const set: ProgramReader = (args) => {
  const unclear: ProgramFacts = { unknown: "`set` changes how the line is read." };
  for (let index = 0; index < args.length; index++) {
    const { text, literal } = args[index] as ShellWord;
    if (!literal) return index === 0 || text.startsWith("-") ? unclear : HARMLESS;
    if (text === "--" || text === "-" || !/^[-+]/.test(text)) return HARMLESS;
    const flags = text.replace("o", "");
    if (!HARMLESS_FLAGS.test(flags)) return unclear;
    if (flags === text) continue;
    const option = args[++index];
    if (option !== undefined && !(option.literal && HARMLESS_SHELL_OPTIONS.test(option.text))) return unclear;
  }
  return HARMLESS;
};

const asks =
  (why: string): ProgramReader =>
  () => ({ unknown: why });

export const shellBuiltins: ReadonlyMap<string, ProgramReader> = new Map<string, ProgramReader>([
  ...[
    "echo",
    "true",
    "false",
    ":",
    "pwd",
    "type",
    "exit",
    "return",
    "break",
    "continue",
    "shift",
    "times",
    "umask",
    "ulimit",
    "jobs",
    "dirs",
    "wait",
    "caller",
    "help",
    "sleep",
  ].map((name): [string, ProgramReader] => [name, () => HARMLESS]),
  ["set", set],
  ["eval", evaluate],
  ["source", source],
  [".", source],
  ["trap", trap],
  ...["export", "declare", "typeset", "local", "readonly"].map((name): [string, ProgramReader] => [name, declare]),
  ["unset", (args) => setting(operands(args, ""), "unset")],
  ["printf", printf],
  ["read", (args) => setting([...operands(args, "adinNptu"), ...valueOf(args, "a")], "read")],
  ["getopts", (args) => setting(args.slice(1, 2), "getopts")],
  [
    "mapfile",
    (args) =>
      hasOption(args, "C") ? { unknown: "mapfile runs what it is given as callback." } : setting(operands(args, "dnOsuCc"), "mapfile"),
  ],
  [
    "readarray",
    (args) =>
      hasOption(args, "C") ? { unknown: "readarray runs what it is given as callback." } : setting(operands(args, "dnOsuCc"), "readarray"),
  ],
  ["cd", entering],
  ["pushd", entering],
  ["popd", entering],
  [
    "hash",
    (args) =>
      args.length === 0 || args.every(({ text }) => text === "-r")
        ? HARMLESS
        : { unknown: "`hash` may change which program a name stands for." },
  ],
  ["alias", asks("`alias` changes what names of commands mean.")],
  ["enable", asks("`enable` changes what names of commands mean.")],
  [
    "shopt",
    (args) =>
      args.some(({ text, literal }) => !literal || /alias|extglob|extdebug|compat|dotglob/.test(text))
        ? { unknown: "`shopt` changes how the line is read." }
        : HARMLESS,
  ],
  ["complete", asks("`complete` may run what it is given.")],
  ["compgen", asks("`compgen` may run what it is given.")],
  ["bind", asks("`bind` may run what it is given.")],
  ["fc", asks("`fc` runs what it finds in the history.")],
  ["history", () => ({})],
  ["coproc", (args) => (args.length === 0 ? {} : { readOnly: true, runs: [args] })],
]);

function valueOf(args: readonly ShellWord[], letter: string): readonly ShellWord[] {
  const at = args.findIndex(({ text }) => /^-[a-zA-Z]*$/.test(text) && text.endsWith(letter));
  const value = at < 0 ? undefined : args[at + 1];
  return value === undefined ? [] : [value];
}

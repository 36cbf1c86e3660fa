import { hasOption, operandsAfter } from "./options.ts";
import type { ProgramFacts, ProgramReader } from "./program-facts.ts";
import { RUNNERS, type RunnerSpec } from "./runner-options.ts";
import { type ShellWord, literalWord } from "./shell-word.ts";
import { isSteering } from "./variables.ts";

/** Commands of package managers after which another command stands. */
const RUNNING_COMMANDS: { readonly [name: string]: readonly string[] } = {
  npm: ["exec", "x"],
  pnpm: ["exec", "dlx"],
  yarn: ["exec", "dlx"],
  bun: ["x"],
  uv: ["run"],
  poetry: ["run"],
  pipenv: ["run"],
  hatch: ["run"],
  pdm: ["run"],
  rye: ["run"],
  bundle: ["exec"],
  mise: ["exec", "x"],
  direnv: ["exec"],
  volta: ["run"],
  dotnet: ["exec"],
  conda: ["run"],
};

const unclear = (name: string): ProgramFacts => ({ unknown: `Which program ${name} starts can't be read.` });

function afterAssignments(words: readonly ShellWord[]): { readonly rest: readonly ShellWord[]; readonly steering: string | undefined } {
  let index = 0;
  let steering: string | undefined;
  for (; index < words.length; index++) {
    const name = /^([^=]+)=/.exec((words[index] as ShellWord).text)?.[1];
    if (name === undefined) break;
    const { text, literal } = words[index] as ShellWord;
    // `BASH_FUNC_ls%%` defines a function.
    if (isSteering(name) || !/^[\w.-]+$/.test(name)) steering = `${name} is set, which changes what runs.`;
    else if (!literal || /[`$(]/.test(text)) steering ??= `${name} is set to text that may run as code.`;
  }
  return { rest: words.slice(index), steering };
}

function reader(spec: RunnerSpec): ProgramReader {
  return (args, { name }) => {
    const operands = operandsAfter(args, spec);
    if (operands === undefined) return unclear(name);
    const { rest, steering } = spec.assignments === true ? afterAssignments(operands) : { rest: operands, steering: undefined };
    const command = rest.slice(spec.operands ?? 0);
    if (command.length === 0) return { ...(spec.harmless === true && { readOnly: true }) };
    return { ...(spec.harmless === true && { readOnly: true }), ...(steering !== undefined && { unknown: steering }), runs: [command] };
  };
}

const setarch: ProgramReader = (args) => {
  const rest = operandsAfter(args, { flags: "BFILRSTXZ3v" });
  if (rest === undefined) return unclear("setarch");
  // The architecture may be left out.
  const started = ARCHITECTURE.test(rest[0]?.text ?? "") ? rest.slice(1) : rest;
  return started.length === 0 ? { unknown: "setarch starts a shell." } : { readOnly: true, runs: [started] };
};
const ARCHITECTURE = /^(?:linux(?:32|64)|uname26|i[3-6]86|x86_64|athlon|arm\w*|aarch64|ppc\w*|s390x?|mips\w*|riscv\w*|sparc\w*)$/;

/** Without `-u`, it hands its operands to a shell. */
const runuser: ProgramReader = (args, where) =>
  codeAfter(args, /^(?:-[a-z]*c|--command|--session-command)$/) ??
  (hasOption(args, "u", ["user"]) ? reader(RUNUSER)(args, where) : unclear("runuser"));
const RUNUSER: RunnerSpec = { values: "ugG", longValues: ["user", "group"] };

const prlimit: ProgramReader = (args) => {
  const at = args.findIndex(({ text }) => !text.startsWith("-"));
  if (args.some(({ text }) => text === "-p" || text.startsWith("--pid") || text === "-o")) return unclear("prlimit");
  return at < 0 ? { readOnly: true } : { runs: [args.slice(at)] };
};

const parallel: ProgramReader = (args) => ({
  unknown: "What parallel makes of its arguments and its input can't be read.",
  runs: [args.filter(({ text }) => !text.startsWith("-"))].filter((words) => words.length > 0),
});

const flock: ProgramReader = (args) => {
  const coded = codeAfter(args, /^(?:-[a-zA-Z]*c|--command)$/);
  if (coded !== undefined) return coded;
  const rest = operandsAfter(args, {
    flags: "seuxnovF",
    values: "wE",
    longFlags: ["shared", "exclusive", "unlock", "nonblock", "nb", "close", "no-fork", "verbose"],
    longValues: ["timeout", "wait", "conflict-exit-code"],
  });
  if (rest === undefined) return unclear("flock");
  const [file, ...started] = rest;
  const after = codeAfter(started, /^(?:-c|--command)$/);
  return { ...(file !== undefined && { writes: [file] }), ...(after ?? (started.length > 0 && { runs: [started] })) };
};

/** `… -c 'text'`: what a shell runs. */
export function codeAfter(args: readonly ShellWord[], option: RegExp): ProgramFacts | undefined {
  const at = args.findIndex(({ text }) => option.test(text));
  const text = args[at + 1];
  if (at < 0) return undefined;
  if (text === undefined || !text.literal) return { unknown: "The text that it runs can't be read." };
  return { code: [text.text] };
}

const withCode =
  (name: string, option: RegExp): ProgramReader =>
  (args) => {
    const coded = codeAfter(args, option);
    if (coded !== undefined) return coded;
    return args.length === 0 || hasOption(args, "", ["login", "shell"])
      ? { unknown: `${name} starts a shell.` }
      : { unknown: `Which program ${name} starts can't be read.` };
  };

/** `watch` hands its words, joined, to a shell. */
const watch: ProgramReader = (args) => {
  const rest = operandsAfter(args, {
    flags: "bcegptwx",
    values: "nq",
    longFlags: ["beep", "color", "errexit", "chgexit", "precise", "no-title", "exec"],
    longValues: ["interval"],
  });
  if (rest === undefined) return unclear("watch");
  if (!rest.every(({ literal }) => literal)) return unclear("watch");
  return { readOnly: true, code: [rest.map(({ text }) => text).join(" ")] };
};

function packageManager(names: readonly string[]): ProgramReader {
  return (args, { name }) => {
    if (args.some(({ text }) => /^--(?:script-shell|shell|node-options|(?:user|global)config)/.test(text))) return unclear(name);
    const at = args.findIndex(({ text }) => !text.startsWith("-"));
    if (name === "npm" && /^(?:pkg?|set?|con\w*|c)$/.test(args[at]?.text ?? ""))
      return { unknown: "Settings of npm may change what it runs." };
    const subcommand = args[at]?.text ?? "";
    // npm takes abbreviations, too.
    const isRunning = names.some((one) => one === subcommand || (subcommand.length > 1 && one.startsWith(subcommand)));
    if (!isRunning) return {};
    const coded = codeAfter(args, /^(?:-c|--call)$/);
    if (coded !== undefined) return coded;
    const rest = args.slice(at + 1);
    const dashes = rest.findIndex(({ text }) => text === "--");
    const started =
      dashes >= 0
        ? rest.slice(dashes + 1)
        : (operandsAfter(rest, {
            flags: "yqT",
            longFlags: ["yes", "no", "quiet", "no-sync", "frozen", "locked"],
            longValues: ["package", "with", "python", "name"],
            values: "pn",
          }) ?? []);
    if (started.length === 0) return unclear(name);
    return { runs: [name === "direnv" ? started.slice(1) : started] };
  };
}

/** Programs that start others, which are commands of their own. */
export const runners: ReadonlyMap<string, ProgramReader> = new Map<string, ProgramReader>([
  ...Object.entries(RUNNERS).map(([name, spec]): [string, ProgramReader] => [name, reader(spec)]),
  ...Object.entries(RUNNING_COMMANDS).map(([name, commands]): [string, ProgramReader] => [name, packageManager(commands)]),
  ["setarch", setarch],
  ["runuser", runuser],
  ["prlimit", prlimit],
  ["parallel", parallel],
  ["sem", parallel],
  ["flock", flock],
  ["watch", watch],
  ["su", withCode("su", /^(?:-[a-z]*c|--command)$/)],
  ["script", withCode("script", /^(?:-[a-z]*c|--command)$/)],
  ["sg", withCode("sg", /^-c$/)],
  ["capsh", withCode("capsh", /^-c$/)],
]);

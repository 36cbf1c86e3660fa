import type { ProgramFacts, ProgramReader } from "./program-facts.ts";

import type { ShellWord } from "./shell-word.ts";

function isInput({ text }: ShellWord): boolean {
  return text === "-" || text.startsWith("/dev/") || text.startsWith("/proc/");
}

interface InterpreterSpec {
  /** Options after which code stands, or a file that is loaded first. */
  readonly code: RegExp;
  /** Options with a value that is not the script. */
  readonly values?: RegExp;
  /** Operands that are commands of the program and no scripts. */
  readonly commands?: readonly string[];
  /** Without operands it reads code from its input; otherwise it doesn't. */
  readonly readsInput?: boolean;
  /** Options that make it run something else than a script, by name. */
  readonly named?: RegExp;
}

const INTERPRETERS: { readonly [name: string]: InterpreterSpec } = {
  "node": {
    code: /^(?:-[a-zA-Z]*[eprC]|--eval|--print|--require|--import|--loader|--experimental-loader|--env-file.*|--run)(?:=|$)/,
    named: /^--(?:test|check|version|help|v8-options)\b|^-[vh]$|^-c$/,
    readsInput: true,
  },
  "python": { code: /^-[a-zA-Z]*c/, values: /^-[WX]$/, named: /^(?:-[a-zA-Z]*m|-V|--version|-h|--help)/, readsInput: true },
  "perl": { code: /^-(?!-)\S*[eEnpMmxi]/, values: /^-I$/, named: /^(?:-v|-V|--version|-c)$/, readsInput: true },
  "ruby": { code: /^-(?!-)\S*[ernpi]/, values: /^-[ICE]$/, named: /^(?:-v|--version)$/, readsInput: true },
  "php": { code: /^(?:-[rBRE]|--run|--process-.*|-d.*|-a)/, named: /^(?:-v|--version|-l|-S|-i|-m)$/, readsInput: true },
  "lua": { code: /^-[eli]/, named: /^-v$/, readsInput: true },
  "deno": { code: /^(?:eval|-e)$/, commands: ["run", "test", "fmt", "lint", "check", "task", "install", "cache", "bench", "doc", "info"] },
  "bun": {
    code: /^(?:-e|-p|--eval|--print|-r|--preload)/,
    commands: ["run", "test", "install", "add", "remove", "build", "pm", "x", "create", "init", "upgrade", "link", "i", "ci"],
  },
  "Rscript": { code: /^-e/ },
  "R": { code: /^(?:-e|-f|--file)/, readsInput: true },
  "julia": { code: /^(?:-[eEL]|--eval|--print|--load)/, named: /^(?:-v|--version)$/, readsInput: true },
  "elixir": { code: /^(?:-[eSr]|--eval|--rpc-eval)/ },
  "erl": { code: /^-(?:eval|s|run)/, readsInput: true },
  "groovy": { code: /^-[a-z]*e/ },
  "scala": { code: /^-e/, readsInput: true },
  "osascript": { code: /^-e/, readsInput: true },
  "tclsh": { code: /^$/, readsInput: true },
  "wish": { code: /^$/, readsInput: true },
  "expect": { code: /^-[cid]/, readsInput: true },
  "guile": { code: /^-[cles]/, readsInput: true },
  "pwsh": { code: /^-(?:c|e|Command|EncodedCommand|File)/i, readsInput: true },
  "tsx": { code: /^(?:-e|-p|-r|--eval|--import|--require)/ },
  "ts-node": { code: /^(?:-e|-p|-r|--eval|--print|--require)/ },
  "jshell": { code: /^/, readsInput: true },
  "ghci": { code: /^/, readsInput: true },
  "irb": { code: /^/, readsInput: true },
  "swipl": { code: /^-[gst]/, readsInput: true },
  "ocaml": { code: /^-[ei]/, readsInput: true },
  "sbcl": { code: /^--(?:eval|load)/, readsInput: true },
  "m4": { code: /^/, readsInput: true },
  "dc": { code: /^/, readsInput: true },
  "psql": { code: /^/, readsInput: true },
  "mysql": { code: /^/, readsInput: true },
  "sqlite3": { code: /^-(?:init|cmd)/, readsInput: true },
};

function interpreter(spec: InterpreterSpec): ProgramReader {
  return (args, { name, fed }): ProgramFacts => {
    const code = { unknown: `What ${name} runs is code that rules don't read.` };
    for (let index = 0; index < args.length; index++) {
      const word = args[index] as ShellWord;
      const { text, literal } = word;
      if (!literal) return text.startsWith("-") || index === 0 ? code : {};
      if (text === "-" || isInput(word)) return code;
      if (text === "--") continue;
      if (spec.named?.test(text) === true) return /^(?:-[vVh]|--version|--help)$/.test(text) && args.length === 1 ? { readOnly: true } : {};
      if (text.startsWith("-")) {
        if (spec.code.test(text)) return code;
        if (spec.values?.test(text) === true) index++;
        continue;
      }
      if (spec.code.test(text)) return code;
      if (spec.commands?.includes(text) === true) return {};
      // sqlite3's operands are a database and statements, of which those with a dot may start programs.
      if (name === "sqlite3")
        return args.length - index > 1 &&
          !args.slice(index + 1).some((later) => /^\s*\.|\b(?:edit|writefile|readfile|load_extension)\b/.test(later.text))
          ? {}
          : code;
      return { scripts: [word] };
    }
    return spec.readsInput === true || fed ? code : {};
  };
}

/** The name without a version: `python3.12` is python. */
export function interpreterNamed(name: string): ProgramReader | undefined {
  if (name === "zsh" || name === "fish" || name === "csh" || name === "tcsh" || name === "nu" || name === "xonsh" || name === "elvish")
    return () => ({ unknown: `What ${name} runs is code that rules don't read.` });
  const bare =
    name === "nodejs"
      ? "node"
      : name
          .replace(/(?<=^(?:python|pypy|perl|ruby|php|lua|tclsh|node))[\d.]+$/, "")
          .replace(/^pypy$|^luajit$/, (found) => (found === "pypy" ? "python" : "lua"));
  const spec = Object.hasOwn(INTERPRETERS, bare) ? INTERPRETERS[bare] : undefined;
  return spec === undefined ? undefined : interpreter(spec);
}

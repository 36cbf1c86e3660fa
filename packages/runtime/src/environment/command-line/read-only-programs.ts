import { hasOption, sortArguments } from "./options.ts";
import type { ProgramFacts, ProgramReader } from "./program-facts.ts";
import type { ShellWord } from "./shell-word.ts";

/** What a program does with its operands. */
type Operands = "content" | "look" | "ignore";

interface ReadOnlySpec {
  readonly operands: Operands;
  /** Options that take a separate value, which is no file. */
  readonly values?: string;
  readonly longValues?: readonly string[];
  /** Options that make it write, or run something. */
  readonly refused?: string;
  readonly refusedLong?: readonly string[];
  /** The first operand is a pattern and no file, unless one of these options gives the pattern. */
  readonly pattern?: string;
  /** More operands than that are files to write. */
  readonly most?: number;
}

const SPECS: { readonly [names: string]: ReadOnlySpec } = {
  "cat tac nl rev fold fmt expand unexpand md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum zcat bzcat xzcat tsort": {
    operands: "content",
    values: "",
  },
  "head tail": { operands: "content", values: "nc", longValues: ["lines", "bytes"] },
  "wc": { operands: "content", refusedLong: ["files0-from"] },
  "cut": { operands: "content", values: "dfbc", longValues: ["delimiter", "fields", "bytes", "characters", "output-delimiter"] },
  "paste": { operands: "content", values: "d", longValues: ["delimiters"] },
  "column": { operands: "content", values: "sotcNHRWTE", longValues: ["separator", "output-separator", "table-columns"] },
  "od hexdump hd": { operands: "content", values: "AjNtwens", refused: "f" },
  "strings": { operands: "content", values: "nteTs" },
  "base64 base32": { operands: "content", values: "w", longValues: ["wrap"] },
  "diff cmp comm join": {
    operands: "content",
    values: "UCWLtx12o",
    longValues: ["label", "exclude"],
    refusedLong: ["to-file", "from-file"],
  },
  "sort": {
    operands: "content",
    values: "ktS",
    longValues: ["key", "field-separator", "buffer-size", "parallel"],
    refused: "oT",
    refusedLong: ["output", "temporary-directory", "compress-program", "files0-from"],
  },
  "uniq": { operands: "content", values: "fsw", longValues: ["skip-fields", "skip-chars", "check-chars"], most: 1 },
  "xxd": { operands: "content", values: "lscgo", refused: "r", most: 1 },
  "grep egrep fgrep zgrep": {
    operands: "content",
    pattern: "ef",
    values: "efABCmdD",
    longValues: ["regexp", "file", "after-context", "before-context", "context", "max-count", "include", "exclude", "exclude-dir"],
  },
  "rg": {
    operands: "content",
    pattern: "ef",
    values: "efABCmgtTjMrdE",
    longValues: [
      "regexp",
      "file",
      "after-context",
      "before-context",
      "context",
      "max-count",
      "glob",
      "iglob",
      "type",
      "type-not",
      "replace",
      "max-depth",
      "sort",
      "sortr",
      "color",
      "colors",
      "threads",
      "max-columns",
      "encoding",
      "max-filesize",
    ],
    refused: "z",
    refusedLong: ["pre", "pre-glob", "hostname-bin", "search-zip", "hyperlink-format"],
  },
  "jq": { operands: "content", pattern: "f", values: "fL", longValues: ["arg", "argjson", "indent"] },
  "yq": { operands: "content", pattern: "", refused: "is", refusedLong: ["inplace", "split-exp", "from-file"] },
  "ls dir vdir": { operands: "look", values: "Iw", longValues: ["ignore", "hide", "width", "sort", "time", "color"] },
  "stat": { operands: "look", values: "cft", longValues: ["format", "printf"] },
  "file": { operands: "look", values: "m", refused: "Cf", refusedLong: ["compile", "files-from"] },
  "du": { operands: "look", values: "dBtX", longValues: ["max-depth", "block-size", "threshold", "exclude"], refusedLong: ["files0-from"] },
  "realpath readlink": { operands: "look", longValues: ["relative-to", "relative-base"] },
  "tree": { operands: "look", values: "LIP", longValues: ["filelimit", "charset"], refused: "oR", refusedLong: ["fromfile"] },
  "fd fdfind": {
    operands: "look",
    pattern: "",
    values: "edtEcjS",
    longValues: ["extension", "max-depth", "type", "exclude", "color", "threads", "size"],
    refused: "xX",
    refusedLong: ["exec", "exec-batch"],
  },
  "basename dirname which whereis whoami id groups uname arch nproc uptime seq expr locale getconf ps printenv tr tput cal logname users free numfmt factor yes":
    { operands: "ignore" },
  "ss lsof": { operands: "ignore", refused: "FDK", refusedLong: ["diag", "kill", "filter"] },
  "hostname": { operands: "ignore", most: 0, refused: "Fb", refusedLong: ["file", "boot"] },
  "df": { operands: "ignore" },
  "date": { operands: "ignore", values: "dr", refused: "s", refusedLong: ["set", "file"] },
};

/** Programs that tell their version, which is all that they then do. */
const TELL_VERSION: ReadonlySet<string> = new Set(
  "node npm npx pnpm yarn bun deno python python3 pip pip3 uv ruby gem bundle go cargo rustc rustup tsc gcc g++ clang make cmake java javac mvn gradle docker kubectl git gh php composer perl dotnet swift rg jq curl wget bash zsh vim psql sqlite3 eslint prettier vitest jest".split(
    " ",
  ),
);

/** Subcommands that only tell something. */
const TELLING: { readonly [program: string]: ReadonlySet<string> } = {
  npm: new Set(["ls", "list", "ll", "root", "prefix", "bin", "explain", "why"]),
  pnpm: new Set(["ls", "list", "root", "bin", "why"]),
  pip: new Set(["list", "show", "freeze"]),
  pip3: new Set(["list", "show", "freeze"]),
  go: new Set(["version"]),
  rustup: new Set(["show"]),
  brew: new Set(["list"]),
  docker: new Set(["ps", "images", "logs"]),
};

function reader(spec: ReadOnlySpec): ProgramReader {
  const values = spec.values ?? "";
  return (args) => {
    const { options } = sortArguments(args);
    if (hasRefused(spec, options)) return {};
    // An option that is expanded may be any option.
    if (spec.operands !== "ignore" && args.some(({ literal, text }) => !literal && !text.startsWith("$"))) return {};
    const files: ShellWord[] = [];
    let patternGiven = spec.pattern === undefined;
    let onlyFiles = false;
    for (let index = 0; index < args.length; index++) {
      const word = args[index] as ShellWord;
      const { text } = word;
      if (onlyFiles || text === "-" || !text.startsWith("-")) {
        // `tail -n +5`, `head -20`, `date +%s`.
        if (!text.startsWith("+") && text !== "-") files.push(word);
      } else if (text === "--") onlyFiles = true;
      else if (text.startsWith("--")) {
        const [name = "", value] = text.slice(2).split(/=(.*)/s, 2);
        if (/^(?:regexp|file)$/.test(name)) patternGiven = true;
        if (name === "file" || name === "include") files.push({ ...word, text: value ?? args[index + 1]?.text ?? "", globs: false });
        if (value === undefined && spec.longValues?.includes(name) === true) index++;
      } else {
        const at = [...text].findIndex((letter, position) => position > 0 && values.includes(letter));
        const letter = at < 0 ? "" : (text[at] as string);
        if (letter !== "" && spec.pattern?.includes(letter) === true) patternGiven = true;
        if (at === text.length - 1) index++;
        if (letter === "f" && spec.pattern?.includes("f") === true)
          files.push(at === text.length - 1 ? (args[index] ?? word) : { ...word, text: text.slice(at + 1) });
      }
    }
    const operands = patternGiven ? files : files.slice(1);
    if (spec.most !== undefined && operands.length > spec.most)
      return spec.operands === "content" ? { reads: operands.slice(0, 1), writes: operands.slice(1) } : {};
    return {
      readOnly: true,
      ...(spec.operands === "content" && { reads: operands }),
      ...(spec.operands === "look" && { looks: operands }),
    };
  };
}

/** Options with a value hide nothing behind it: `-k1o` is a key, `-ro` two options. */
function hasRefused({ refused = "", refusedLong = [], values = "" }: ReadOnlySpec, options: readonly ShellWord[]): boolean {
  return options.some((word) => {
    if (word.text.startsWith("--")) return hasOption([word], "", refusedLong);
    for (const letter of word.text.slice(1)) {
      if (refused.includes(letter)) return true;
      if (values.includes(letter)) return false;
    }
    return false;
  });
}

/** Tells what is in an archive, where that is all that its first word asks for. With a colon its name is one of another machine. */
const listing =
  (mode: RegExp): ProgramReader =>
  ([first, ...files]) =>
    first?.literal === true && mode.test(first.text) && files.length > 0 && files.every(({ text }) => !/^-|:/.test(text))
      ? { readOnly: true, reads: files.slice(0, 1) }
      : {};

const readers: ReadonlyMap<string, ProgramReader> = new Map<string, ProgramReader>([
  ...Object.entries(SPECS).flatMap(([names, spec]) => names.split(" ").map((name): [string, ProgramReader] => [name, reader(spec)])),
  ["tar", listing(/^-?t[vzjJa]*f$/)],
  ["unzip", listing(/^-[lZ]$/)],
]);

/** What is known of programs that read or tell, where their arguments leave it at that. */
export function readOnlyFacts(name: string, args: readonly ShellWord[], fed: boolean): ProgramFacts | undefined {
  const [first] = args;
  if (args.length === 1 && first?.literal === true && TELL_VERSION.has(name) && /^(?:--version|-v|-V|version)$/.test(first.text))
    return { readOnly: !/^(?:python3?|perl|ruby|bash|zsh|php|curl|wget)$/.test(name) || first.text !== "-v" };
  const telling = Object.hasOwn(TELLING, name) ? TELLING[name] : undefined;
  if (telling !== undefined && first?.literal === true && telling.has(first.text)) return { readOnly: true };
  return readers.get(name)?.(args, { name, fed });
}

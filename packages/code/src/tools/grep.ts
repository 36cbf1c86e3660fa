import type { ExecuteResponse, Executor, Tool } from "@keelson/protocol";
import { defineTool } from "keelson/tools";
import { explainMissing } from "./explain-missing.ts";
import { counted } from "./text-content.ts";
import { choice, flag, integer, optional, text, toolInput } from "./tool-input.ts";
import { createWithheld, type Withheld } from "./withheld.ts";
import { permissionPath, shownPath, toolFailure, type WorkspaceFiles } from "./workspace-files.ts";

export interface GrepInput {
  readonly pattern: string;
  readonly path?: string;
  readonly mode?: "content" | "files" | "count";
  readonly glob?: string;
  readonly type?: string;
  readonly ignore_case?: boolean;
  readonly fixed?: boolean;
  readonly multiline?: boolean;
  readonly context?: number;
  readonly limit?: number;
}
export interface GrepOperations {
  readonly files: WorkspaceFiles;
  readonly exec: Executor;
  /** The ripgrep program. Default: the one that comes with `@vscode/ripgrep`. */
  readonly ripgrep?: string;
}

const DEFAULT_LIMIT = 200;
const MAX_LIMIT = 2000;
const MAX_OUTPUT_BYTES = 40 * 1024;
// Read whole, so that the end can be counted; a search that finds more than this is too wide anyway.
const MAX_SEARCH_BYTES = 4 * 1024 * 1024;
const MAX_LINE_CHARACTERS = 500;
const TIMEOUT_MS = 60_000;

/** Searches file contents with ripgrep. */
export function createGrepTool({ files, exec, ripgrep }: GrepOperations): Tool<GrepInput> {
  return defineTool<GrepInput>({
    name: "grep",
    description:
      "Search the contents of files with a regular expression (ripgrep's syntax; escape { ( [ . to mean themselves, or set fixed). Gives lines as path:line:text, or only the files, or counts per file. What git ignores, .git, node_modules and binary files are left out.",
    effect: "read",
    aliases: ["search"],
    input: toolInput({
      pattern: text("The regular expression."),
      path: optional(text("The file or folder to search, relative to the project. Default: the project's root.")),
      mode: optional(
        choice("content: matching lines (default); files: paths only; count: matching lines per file.", ["content", "files", "count"]),
      ),
      glob: optional(text("Only files whose path matches, as in *.ts or src/**/*.{js,jsx}.")),
      type: optional(text("Only files of this type, as in ts, py, rust, go.")),
      ignore_case: optional(flag("Capital and small letters are the same.")),
      fixed: optional(flag("The pattern is plain text.")),
      multiline: optional(flag("The pattern may span lines, and . matches line ends.")),
      context: optional(integer("How many lines to show before and after each match.", { minimum: 0, maximum: 20 })),
      limit: optional(integer(`How many lines of result at most. Default ${DEFAULT_LIMIT}.`, { minimum: 1, maximum: MAX_LIMIT })),
    }),
    permissionText: ({ path = "." }) => permissionPath(files, path),
    effectsOf: ({ path = "." }) => ({ reads: [permissionPath(files, path)] }),
    execute: (input, { signal, mayRead }) => {
      const path = input.path ?? ".";
      return explainMissing(files, path, signal, async () => {
        await files.stat(path, { signal }); // refuses what is missing or outside
        const program = ripgrep ?? (await bundledRipgrep());
        const response = await exec.execute({
          program,
          args: argumentsOf(input, shownPath(files, files.resolve(path))),
          cwd: files.root,
          timeoutMs: TIMEOUT_MS,
          maxOutputBytes: MAX_SEARCH_BYTES,
          signal,
        });
        return present(input, response, createWithheld(mayRead));
      });
    },
  });
}

async function bundledRipgrep(): Promise<string> {
  try {
    return (await import("@vscode/ripgrep")).rgPath;
  } catch (error) {
    throw toolFailure(
      "grep",
      "ripgrep is not installed for this system. Install the packages again without --omit=optional, or search with a command through bash.",
      error,
    );
  }
}

function argumentsOf(input: GrepInput, path: string): string[] {
  const mode = input.mode ?? "content";
  return [
    "--no-config",
    "--color=never",
    "--sort=path",
    "--hidden",
    "--no-require-git",
    // A path ends with a zero byte, so that it is known for certain which file a line is of.
    "--null",
    "--glob=!.git",
    "--glob=!node_modules",
    ...(mode === "files"
      ? ["--files-with-matches"]
      : mode === "count"
        ? ["--count", "--with-filename"]
        : ["--line-number", "--no-heading", "--with-filename", `--max-columns=${MAX_LINE_CHARACTERS}`, "--max-columns-preview"]),
    ...(input.glob === undefined ? [] : [`--glob=${input.glob}`]),
    ...(input.type === undefined ? [] : [`--type=${input.type}`]),
    ...(input.ignore_case ? ["--ignore-case"] : []),
    ...(input.fixed ? ["--fixed-strings"] : []),
    ...(input.multiline ? ["--multiline", "--multiline-dotall"] : []),
    ...(input.context !== undefined && mode === "content" ? [`--context=${input.context}`] : []),
    `--regexp=${input.pattern}`,
    "--",
    path === "." ? "./" : path,
  ];
}

function present(input: GrepInput, { exitCode, stdout, stderr, stdoutBytes, timedOut }: ExecuteResponse, withheld: Withheld): string {
  if (timedOut) throw toolFailure("grep", `The search took more than ${TIMEOUT_MS / 1000} s. Narrow it with path, glob or type.`);
  // 1: nothing found. 2: something went wrong, but there may be results beside it, as with a folder that cannot be read.
  if (exitCode === 1) return `No match for ${input.pattern}${input.glob === undefined ? "" : ` in files like ${input.glob}`}.`;
  if (exitCode !== 0 && stdoutBytes === 0) throw toolFailure("grep", explain(input, stderr));
  const limit = input.limit ?? DEFAULT_LIMIT;
  const lines = readLines(stdout, input.mode ?? "content", withheld);
  if (lines.length === 0) return withheld.note ?? "No match.";
  const shown: string[] = [];
  let bytes = 0;
  for (const line of lines) {
    bytes += Buffer.byteLength(line) + 1;
    if (shown.length === limit || (bytes > MAX_OUTPUT_BYTES && shown.length > 0)) break;
    shown.push(line);
  }
  if (shown.length < lines.length) {
    const total = stdoutBytes > MAX_SEARCH_BYTES ? "very many lines" : counted(lines.length, "line");
    shown.push(`[The first ${shown.length} of ${total}. Narrow the search with path, glob or type, or use mode files or count.]`);
  }
  if (exitCode !== 0) shown.push(`[Not everything could be searched: ${firstLines(stderr)}]`);
  if (withheld.note !== undefined) shown.push(withheld.note);
  return shown.join("\n");
}

/** The lines of ripgrep's output as the model reads them, without those of files that are left out. */
function readLines(stdout: string, mode: NonNullable<GrepInput["mode"]>, withheld: Withheld): string[] {
  const shown = (path: string): string => (path.startsWith("./") ? path.slice(2) : path);
  if (mode === "files")
    return stdout
      .split("\0")
      .filter((path) => path !== "")
      .map(shown)
      .filter((path) => !withheld.has(path));
  const kept: string[] = [];
  for (const line of stdout.trimEnd().split("\n")) {
    const end = line.indexOf("\0");
    if (end < 0) kept.push(line);
    else if (!withheld.has(shown(line.slice(0, end)))) {
      const rest = line.slice(end + 1);
      // Lines of context are marked by a dash, as ripgrep does without zero bytes.
      kept.push(`${shown(line.slice(0, end))}${mode === "count" ? ":" : /^\d+-/.test(rest) ? "-" : ":"}${rest}`);
    }
  }
  return withoutLoneSeparators(kept);
}

/** `--` stands between groups of lines; where a group was left out, so is one of its separators. */
function withoutLoneSeparators(lines: readonly string[]): string[] {
  const kept = lines.filter((line, index) => line !== "--" || (lines[index + 1] !== "--" && index > 0));
  return kept.at(-1) === "--" ? kept.slice(0, -1) : kept;
}

function explain({ pattern, type, glob }: GrepInput, stderr: string): string {
  if (stderr.includes("regex parse error"))
    return `The pattern ${pattern} is not a valid regular expression:\n${firstLines(stderr)}\nEscape the character with a backslash, or set fixed to search for plain text.`;
  if (stderr.includes("unrecognized file type")) return `There is no file type ${type}. Use glob instead, as in *.${type}.`;
  if (stderr.includes("error parsing glob")) return `The glob ${glob} is not valid: ${firstLines(stderr)}`;
  return `The search failed: ${firstLines(stderr) || "ripgrep gave no reason"}`;
}

function firstLines(message: string): string {
  return message.trim().split("\n").slice(0, 6).join("\n");
}

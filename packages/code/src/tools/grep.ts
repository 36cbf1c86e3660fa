import { type GrepMatch, type Tool, type Vfs, VfsError } from "@keelson/protocol";
import { defineTool } from "keelson/tools";
import { explainMissing } from "./explain-missing.ts";
import { matchedLines } from "./matched-lines.ts";
import { createOmissionNotes, type OmissionNotes } from "./omission-notes.ts";
import { shownName } from "./shown-name.ts";
import { counted } from "./text-lines.ts";
import { choice, flag, integer, optional, text, toolInput } from "./tool-input.ts";
import { type FilesContext, filesOf, plannedPath, shownPath, toolFailure } from "./call-files.ts";

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

const DEFAULT_LIMIT = 200;
const MAX_LIMIT = 2000;
const MAX_OUTPUT_BYTES = 40 * 1024;
// Found before it is cut off, so that the end can be counted; a search that finds more than this is too wide anyway.
const MAX_MATCHES = 20_000;
const TIMEOUT_MS = 60_000;
const MODES = { content: "content", files: "files-with-matches", count: "count" } as const;

/** Searches the contents of files. */
export function createGrepTool(): Tool<GrepInput, FilesContext> {
  return defineTool.for<FilesContext>()<GrepInput>({
    name: "grep",
    description:
      "Search the contents of files with a regular expression (as ripgrep's, without flags and named groups; escape { ( [ . to mean themselves, or set fixed). Gives lines as path:line:text, or only the files, or counts per file. Files that git ignores and does not track, .git and node_modules are left out; the result says what was left out. Texts in UTF-16, GB18030 and Shift-JIS are searched too.",
    effect: "read",
    aliases: ["search"],
    input: toolInput({
      pattern: text("The regular expression."),
      path: optional(text("The file or folder to search, relative to the working directory. Default: the working directory.")),
      mode: optional(
        choice("content: matching lines (default); files: paths only; count: matching lines per file.", ["content", "files", "count"]),
      ),
      glob: optional(text("Only files whose path below the searched folder matches, as in *.ts or src/**/*.{js,jsx}.")),
      type: optional(text("Only files of this type, as in ts, py, rust, go, or with this extension.")),
      ignore_case: optional(flag("Capital and small letters are the same.")),
      fixed: optional(flag("The pattern is plain text.")),
      multiline: optional(flag("The pattern may span lines, and . matches line ends.")),
      context: optional(integer("How many lines to show before and after each match.", { minimum: 0, maximum: 20 })),
      limit: optional(integer(`How many lines of result at most. Default ${DEFAULT_LIMIT}.`, { minimum: 1, maximum: MAX_LIMIT })),
    }),
    permissionText: ({ path = "." }, effects) => effects?.reads?.[0] ?? path,
    effectsOf: async ({ path = "." }, where) => ({ reads: [await plannedPath(where, path)] }),
    async execute(input, call) {
      const { signal, mayRead } = call;
      const files = filesOf(call, "grep");
      const path = input.path ?? ".";
      return explainMissing(files, path, signal, async () => {
        await files.stat(path, { signal }); // refuses what is missing or outside
        const notes = createOmissionNotes(files, mayRead);
        return present(input, files, await search(files, input, notes, signal), notes);
      });
    },
  });
}

async function search(
  files: Vfs,
  input: GrepInput,
  { mayRead, onOmitted }: OmissionNotes,
  signal: AbortSignal,
): Promise<readonly GrepMatch[]> {
  const { pattern, path = ".", mode = "content", glob, type, ignore_case, fixed, multiline, context } = input;
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  try {
    return await files.grep(pattern, {
      path,
      outputMode: MODES[mode],
      glob,
      fileType: type,
      caseInsensitive: ignore_case,
      fixedString: fixed,
      multiline,
      context: mode === "content" ? context : undefined,
      lineNumbers: true,
      gitignore: true,
      leaveOut: ["node_modules"],
      maxMatches: MAX_MATCHES,
      mayRead,
      onOmitted,
      signal: AbortSignal.any([signal, timeout]),
    });
  } catch (error) {
    if (timeout.aborted && !signal.aborted)
      throw toolFailure("grep", `The search took more than ${TIMEOUT_MS / 1000} s. Narrow it with path, glob or type.`, error);
    // What the library calls its option has another name here.
    if (VfsError.is(error, "other") || VfsError.is(error, "unsupported"))
      throw toolFailure("grep", error.message.replaceAll("fixedString", "fixed"), error);
    throw error;
  }
}

function present(input: GrepInput, files: Vfs, matches: readonly GrepMatch[], notes: OmissionNotes): string {
  const { pattern, mode = "content", glob, type, limit = DEFAULT_LIMIT } = input;
  // Files that ask no `mayRead` may have searched more.
  const readable = matches.filter(({ file }) => notes.mayRead(file) || notes.onOmitted({ path: file, isDir: false, reason: "denied" }));
  if (readable.length === 0) {
    const where = `${glob === undefined ? "" : ` in files like ${glob}`}${type === undefined ? "" : ` of type ${type}`}`;
    return [`No match for ${pattern}${where}.`, ...notes.lines()].join("\n");
  }
  const left = readable.map((match) => ({ ...match, file: shownName(shownPath(files, match.file)) }));
  const lines =
    mode === "files"
      ? left.map(({ file }) => file)
      : mode === "count"
        ? left.map(({ file, lineNumber }) => `${file}:${lineNumber}`)
        : matchedLines(left);
  const shown: string[] = [];
  let bytes = 0;
  for (const line of lines) {
    bytes += Buffer.byteLength(line) + 1;
    if (shown.length === limit || (bytes > MAX_OUTPUT_BYTES && shown.length > 0)) break;
    shown.push(line);
  }
  if (shown.length < lines.length) {
    const total = matches.length >= MAX_MATCHES ? "very many lines" : counted(lines.length, "line");
    shown.push(`[The first ${shown.length} of ${total}. Narrow the search with path, glob or type, or use mode files or count.]`);
  }
  shown.push(...notes.lines());
  return shown.join("\n");
}

import type { JsonValue, Reconciliation, Tool, ToolCall, Vfs } from "@keelson/protocol";
import { defineTool } from "keelson/tools";
import { compileSearch, type Search, SearchTooSlow, UnusableSearch } from "../edits/compile-search.ts";
import { replaceMatches } from "../edits/replace-matches.ts";
import { explainMissing } from "./explain-missing.ts";
import { makeChanges, type PlannedChange } from "./make-changes.ts";
import { createOmissionNotes, type OmissionNotes } from "./omission-notes.ts";
import { editEffects } from "./programs-of.ts";
import { listSearched, type SearchedFiles } from "./searched-files.ts";
import { counted } from "./text-lines.ts";
import { flag, integer, optional, text, toolInput } from "./tool-input.ts";
import type { EditContext, EditToolOptions } from "./edit-context.ts";
import { filesOf, plannedFiles, plannedPath, realPath, shownPath, toolFailure } from "./call-files.ts";

export interface SearchReplaceInput {
  readonly search: string;
  readonly replace: string;
  readonly path?: string;
  readonly glob?: string;
  readonly regex?: boolean;
  readonly ignore_case?: boolean;
  readonly dry_run?: boolean;
  readonly max_files?: number;
}
export interface SearchReplaceOptions extends EditToolOptions {
  /** Monotonic milliseconds. */
  readonly now?: () => number;
}

const DEFAULT_MAX_FILES = 50;
const MAX_FILES = 500;
const MAX_FILE_BYTES = 4 * 1024 * 1024;
const LIMIT_MS = 20_000;
const MAX_NAMED = 100;
// More names than this would be no help to who decides on the call.
const MAX_JUDGED = 1000;

/** Replaces a text or the matches of a regular expression in many files. */
export function createSearchReplaceTool({ exec, now = () => performance.now() }: SearchReplaceOptions = {}): Tool<
  SearchReplaceInput,
  EditContext
> {
  const compile = ({ search, replace, regex = false, ignore_case = false }: SearchReplaceInput): Promise<Search> =>
    compileSearch({ search, replace, isRegex: regex, ignoresCase: ignore_case, now, limitMs: LIMIT_MS });
  return defineTool.for<EditContext>()<SearchReplaceInput>({
    name: "search_replace",
    description: `Replace a text in many files: every occurrence, all of them or none. To change one place use another tool. Ignored and binary files are left out. With dry_run it only counts the matches in each file. More than max_files files (default ${DEFAULT_MAX_FILES}) with a match are refused.`,
    effect: "write",
    category: "edit",
    risk: "medium",
    input: toolInput({
      search: text(
        "The text to search, or with regex a regular expression (RE2: no lookarounds, no backreferences; ^ and $ match at lines).",
      ),
      replace: text("The text to put in place of each match. With regex, $1 or ${name} is a group, $& the match and $$ a dollar sign."),
      path: optional(text("The file or folder to search, relative to the working directory. Default: the working directory.")),
      glob: optional(text('Only files whose path below it matches, as in "src/**/*.ts" or "*.md".')),
      regex: optional(flag("Take search as a regular expression.")),
      ignore_case: optional(flag("Match letters in either case.")),
      dry_run: optional(flag("Count the matches and change nothing.")),
      max_files: optional(integer(`The most files to change. Default ${DEFAULT_MAX_FILES}.`, { minimum: 1, maximum: MAX_FILES })),
    }),
    permissionText: ({ path = ".", glob = "" }, effects) => effects?.writes?.join(", ") || `${path} ${glob}`.trim(),
    async effectsOf(input, where) {
      const start = await plannedPath(where, input.path ?? ".");
      // Names of files in an environment are not known before the call.
      const files = where.environment === undefined ? plannedFiles(where) : undefined;
      const listed = files && (await listSearched(files, input, {}).catch(() => undefined));
      const paths = files && listed?.paths.map((path) => shownPath(files, path));
      const isKnown = paths !== undefined && paths.length <= MAX_JUDGED && listed?.isComplete === true;
      const touched = isKnown ? { reads: paths } : { reads: [start], mayTouch: [start === "." ? "*" : `${start}/*`] };
      if (input.dry_run === true) return { ...touched, commands: [] };
      return editEffects({ ...touched, writes: isKnown ? paths : [start] }, where, exec);
    },

    async execute(input, call) {
      const { session } = call;
      const { changes, seen } = call.context;
      const files = filesOf(call, "search_replace");
      const found = await findAll(files, input, call, compile);
      if (found.changes.length === 0)
        throw toolFailure("search_replace", `Nothing matches in ${counted(found.read, "file")} that were searched.${found.told}`);
      const counts = found.changes.map(({ path, count }) => `${shownPath(files, path)}: ${count}`);
      const more = counts.length > MAX_NAMED ? [`and ${counts.length - MAX_NAMED} more files`] : [];
      const total = found.changes.reduce((sum, { count }) => sum + count, 0);
      const summary = `${counted(total, "match")} in ${counted(counts.length, "file")}`;
      const list = [...counts.slice(0, MAX_NAMED), ...more].join("\n");
      const limit = input.max_files ?? DEFAULT_MAX_FILES;
      if (input.dry_run === true) return `Would replace ${summary}:\n${list}${found.told}`;
      if (counts.length > limit)
        throw toolFailure(
          "search_replace",
          `There are ${summary}, which is more files than max_files (${limit}); nothing was changed. Narrow path or glob, or raise max_files (at most ${MAX_FILES}).\n${list}${found.told}`,
        );
      await makeChanges(
        "search_replace",
        found.changes.map(({ change }) => change),
        { files, changes, call },
      );
      for (const { path, change } of found.changes) {
        const real = await realPath(files, path);
        // The rest of a file that the session did not know was not shown to it.
        if (change.before !== null && seen.check(session, real, change.before) === "current") seen.see(session, real, change.after);
      }
      return `Replaced ${summary}:\n${list}${found.told}`;
    },

    /** A replacement that leaves no match behind can be made again: what is done has no match any more. */
    async reconcile(input, call): Promise<Reconciliation<JsonValue>> {
      if (input.dry_run === true) return "not-done";
      const files = filesOf(call, "search_replace");
      const found = await findAll(files, input, call, compile);
      if (found.changes.length === 0) return { output: "Replaced all matches." };
      const search = await compile(input);
      return found.changes.every(({ change }) => replaceMatches(change.after, search).kind === "none") ? "not-done" : "unknown";
    },
  });
}

interface FileMatches {
  readonly path: string;
  readonly count: number;
  readonly change: Extract<PlannedChange, { readonly kind: "write" }>;
}

interface FoundMatches {
  readonly changes: readonly FileMatches[];
  /** The number of files that were searched. */
  readonly read: number;
  /** Notes for the model about files that were left out. */
  readonly told: string;
}

async function findAll(
  files: Vfs,
  input: SearchReplaceInput,
  call: ToolCall,
  compile: (input: SearchReplaceInput) => Promise<Search>,
): Promise<FoundMatches> {
  if (input.search === "") throw toolFailure("search_replace", "search is empty. Give the text to replace.");
  try {
    const search = await compile(input);
    const notes = createOmissionNotes(files, call.mayRead);
    const listed = await explainMissing(files, input.path ?? ".", call.signal, () =>
      listSearched(files, input, { ...notes, signal: call.signal }),
    );
    return await findIn(files, listed, { search, omissions: notes }, call.signal);
  } catch (error) {
    if (error instanceof UnusableSearch) throw toolFailure("search_replace", error.message, error);
    if (error instanceof SearchTooSlow)
      throw toolFailure(
        "search_replace",
        `The search took more than ${LIMIT_MS / 1000} s and was stopped; nothing was changed. Search fewer files.`,
        error,
      );
    throw error;
  }
}

async function findIn(
  files: Vfs,
  { paths, isComplete }: SearchedFiles,
  { search, omissions }: { readonly search: Search; readonly omissions: OmissionNotes },
  signal: AbortSignal,
): Promise<FoundMatches> {
  const found: FileMatches[] = [];
  const leftOut: string[] = [];
  let read = 0;
  for (const path of paths) {
    signal.throwIfAborted();
    const shown = shownPath(files, path);
    if (!omissions.mayRead(path)) {
      omissions.onOmitted({ path, isDir: false, reason: "denied" });
      continue;
    }
    const { size } = await files.stat(path, { signal });
    if (size > MAX_FILE_BYTES) {
      leftOut.push(`${shown} (${counted(size, "byte")})`);
      continue;
    }
    const { content } = await files.read(path, { signal });
    const replaced = replaceMatches(content, search);
    if (replaced.kind === "binary") {
      omissions.onOmitted({ path, isDir: false, reason: "binary" });
      continue;
    }
    read++;
    if (replaced.kind === "none") continue;
    if (replaced.kind === "refused")
      throw toolFailure("search_replace", `${shown} cannot be changed: ${replaced.reason}. Nothing was changed.`);
    if (replaced.count > 0)
      found.push({ path, count: replaced.count, change: { kind: "write", path, before: content, after: replaced.content } });
  }
  const notes = [
    ...(isComplete ? [] : [`[Only the first ${paths.length} files were searched. Narrow path or glob.]`]),
    ...(leftOut.length === 0
      ? []
      : [`[Left out, because they are larger than ${MAX_FILE_BYTES / 1024 / 1024} MiB: ${leftOut.join(", ")}]`]),
    ...omissions.lines(),
  ];
  return { changes: found, read, told: notes.map((note) => `\n${note}`).join("") };
}

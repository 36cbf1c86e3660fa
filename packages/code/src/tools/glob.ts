import { type GlobEntry, type GlobOptions, type Tool, type Vfs, VfsError } from "@keelson/protocol";
import { defineTool } from "keelson/tools";
import { explainMissing } from "./explain-missing.ts";
import { isHomePath } from "../core/home-path.ts";
import { createOmissionNotes, type OmissionNotes } from "./omission-notes.ts";
import { shownName } from "./shown-name.ts";
import { integer, optional, text, toolInput } from "./tool-input.ts";
import { type FilesContext, filesOf, plannedPath, shownPath, toolFailure } from "./call-files.ts";

export interface GlobInput {
  readonly pattern: string;
  readonly path?: string;
  readonly limit?: number;
}

const DEFAULT_LIMIT = 200;
const MAX_LIMIT = 2000;

/** Finds files by their paths. */
export function createGlobTool(): Tool<GlobInput, FilesContext> {
  return defineTool.for<FilesContext>()<GlobInput>({
    name: "glob",
    description:
      "Find files by a pattern of their path: * and ? stay within a name, ** spans folders, {a,b} and [a-z] choose; **/*.ts finds all TypeScript files. Brackets and braces in real names, as in app/[slug]/*.tsx, are found as they stand. Files that git ignores and does not track, .git and node_modules are left out, unless the pattern or the path names them; the result says what was left out. Paths come sorted, one a line.",
    effect: "read",
    aliases: ["find", "find_files"],
    input: toolInput({
      pattern: text("The pattern, relative to path."),
      path: optional(text("The folder to look in, relative to the working directory. Default: the working directory.")),
      limit: optional(integer(`How many paths at most. Default ${DEFAULT_LIMIT}.`, { minimum: 1, maximum: MAX_LIMIT })),
    }),
    permissionText: ({ path = "." }, effects) => effects?.reads?.[0] ?? path,
    effectsOf: async ({ path = "." }, where) => ({ reads: [await plannedPath(where, path)] }),
    async execute({ pattern, path = ".", limit = DEFAULT_LIMIT }, call) {
      const { signal, mayRead } = call;
      const files = filesOf(call, "glob");
      return explainMissing(files, path, signal, () => find(files, { pattern, path, limit }, createOmissionNotes(files, mayRead), signal));
    },
  });
}

async function find(files: Vfs, { pattern, path, limit }: Required<GlobInput>, notes: OmissionNotes, signal: AbortSignal): Promise<string> {
  const { root = "/" } = files;
  const above = root.endsWith("/") ? root : `${root}/`;
  const relativePattern = pattern.startsWith(above) && path === "." ? pattern.slice(above.length) : pattern;
  if (relativePattern.startsWith("/") || isHomePath(relativePattern))
    throw toolFailure("glob", `The pattern ${pattern} is absolute. Give the folder as path and a pattern relative to it.`);
  const { mayRead, onOmitted } = notes;
  const entries = await findEntries(files, relativePattern, {
    path,
    gitignore: true,
    leaveOut: dependencyFolders(relativePattern),
    limit: limit + 1,
    mayRead,
    onOmitted,
    signal,
  });
  // Files that ask no `mayRead` may have listed more.
  const readable = entries.filter(({ path: found, isDir }) => mayRead(found) || onOmitted({ path: found, isDir, reason: "denied" }));
  const shown = readable.slice(0, limit).map(({ path: found, isDir }) => `${shownPath(files, found)}${isDir ? "/" : ""}`);
  const lines = shown.map(shownName);
  if (readable.length > limit) lines.push(`[Only the first ${limit}. Narrow the pattern, or set limit.]`);
  if (shown.length > 0) return [...lines, ...notes.lines()].join("\n");
  const hint = relativePattern.includes("/") ? "" : ` To look in all folders use **/${relativePattern}.`;
  const place = shownPath(files, path);
  return [`No file matches ${pattern} in ${place === "." ? "the project" : place}.${hint}`, ...notes.lines()].join("\n");
}

async function findEntries(files: Vfs, pattern: string, options: GlobOptions): Promise<readonly GlobEntry[]> {
  try {
    return await files.glob(pattern, options);
  } catch (error) {
    if (VfsError.is(error, "other") || VfsError.is(error, "unsupported")) throw toolFailure("glob", error.message, error);
    throw error;
  }
}

/** Returns the folders to leave out: those of dependencies, unless the pattern names them. */
function dependencyFolders(pattern: string): readonly string[] {
  return pattern.split("/").includes("node_modules") ? [] : ["node_modules"];
}

import { join } from "node:path/posix";
import type { Tool, Vfs } from "@keelson/protocol";
import { compileGlob } from "keelson/environment";
import { defineTool } from "keelson/tools";
import { explainMissing } from "./explain-missing.ts";
import { shownName } from "./shown-name.ts";
import { integer, optional, text, toolInput } from "./tool-input.ts";
import { walkFiles } from "./walk-files.ts";
import { createWithheld, type Withheld } from "./withheld.ts";
import { filesOf, permissionPath, plannedPath, realPath, shownPath, toolFailure, type WorkspaceFiles } from "./workspace-files.ts";

export interface GlobInput {
  readonly pattern: string;
  readonly path?: string;
  readonly limit?: number;
}

const DEFAULT_LIMIT = 200;
const MAX_LIMIT = 2000;

/** Finds files by their paths. */
export function createGlobTool({ files: own }: { readonly files: WorkspaceFiles }): Tool<GlobInput> {
  return defineTool<GlobInput>({
    name: "glob",
    description:
      "Find files by a pattern of their path: * and ? stay within a name, ** spans folders, {a,b} and [a-z] choose; **/*.ts finds all TypeScript files. What git ignores and folders such as node_modules are left out, unless the pattern or the path names them. Paths come sorted, one a line.",
    effect: "read",
    aliases: ["find", "find_files"],
    input: toolInput({
      pattern: text("The pattern, relative to path."),
      path: optional(text("The folder to look in, relative to the project. Default: the project's root.")),
      limit: optional(integer(`How many paths at most. Default ${DEFAULT_LIMIT}.`, { minimum: 1, maximum: MAX_LIMIT })),
    }),
    permissionText: ({ path = "." }, effects) => effects?.reads?.[0] ?? permissionPath(own, path),
    effectsOf: async ({ path = "." }, where) => ({ reads: [await plannedPath(where, own, path)] }),
    async execute({ pattern, path = ".", limit = DEFAULT_LIMIT }, call) {
      const { signal, mayRead } = call;
      const files = filesOf(call, own, "glob");
      return explainMissing(files, path, signal, () =>
        find(files, { pattern, path, limit }, { signal, withheld: createWithheld(mayRead) }),
      );
    },
  });
}

async function find(
  files: Vfs,
  { pattern, path, limit }: Required<GlobInput>,
  { signal, withheld }: { readonly signal: AbortSignal; readonly withheld: Withheld },
): Promise<string> {
  const { root = "/" } = files;
  const above = root.endsWith("/") ? root : `${root}/`;
  const relativePattern = pattern.startsWith(above) && path === "." ? pattern.slice(above.length) : pattern;
  if (relativePattern.startsWith("/"))
    throw toolFailure("glob", `The pattern ${pattern} is absolute. Give the folder as path and a pattern relative to it.`);
  const glob = compile(relativePattern);
  const start = await realPath(files, path);
  const found: string[] = [];
  const skipped: string[] = [];
  let more = false;
  const walk = walkFiles(files, {
    start,
    enter: glob.mayMatchBelow,
    wanted: new Set(relativePattern.split("/")),
    onSkip: (folder) => void (skipped.length < 5 && glob.mayMatchBelow(folder) && skipped.push(folder)),
    signal,
  });
  for await (const { path: candidate, entry } of walk) {
    if (!glob.matches(candidate) || withheld.has(shownPath(files, join(start, candidate)))) continue;
    if (found.length === limit) {
      more = true;
      break;
    }
    found.push(shownName(`${shownPath(files, join(start, candidate))}${entry.isDir ? "/" : ""}`));
  }
  if (more) found.push(`[Only the first ${limit}. Narrow the pattern, or set limit.]`);
  if (withheld.note !== undefined) found.push(withheld.note);
  if (found.length > 0) return found.join("\n");
  const hints = [
    ...(relativePattern.includes("/") ? [] : [`To look in all folders use **/${relativePattern}.`]),
    ...(skipped.length > 0 ? [`Not searched: ${skipped.join(", ")}; name one in the pattern to search it.`] : []),
  ];
  const place = shownPath(files, path);
  return [`No file matches ${pattern} in ${place === "." ? "the project" : place}.`, ...hints].join(" ");
}

function compile(pattern: string): ReturnType<typeof compileGlob> {
  try {
    return compileGlob(pattern);
  } catch (error) {
    throw toolFailure("glob", (error as Error).message, error);
  }
}

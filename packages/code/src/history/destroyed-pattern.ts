import { basename, dirname, resolve } from "node:path";
import type { DestroyedFiles } from "@keelson/protocol";
import { realTarget } from "./real-target.ts";
import { keptPath } from "./system-path.ts";

/** A pattern of files that a command may delete or overwrite. Paths are as of `systemPath`. */
export interface DestroyedPattern {
  /** The file, or the folder whose files the pattern is about. Links above it are followed. */
  readonly path: string;
  /** True for a folder and what is below, false for a file. */
  readonly isTree: boolean;
  /** True if files that git ignores stay as they are. */
  readonly sparesIgnored: boolean;
  /** True if a path below the folder is meant. */
  matches(path: string): boolean;
}

/** Reads a pattern. @returns `undefined` for `*`, which may be any file */
export function destroyedPattern({ pattern, sparesIgnored = false }: DestroyedFiles, cwd: string): DestroyedPattern | undefined {
  if (pattern === "*") return undefined;
  const pieces = piecesOf(pattern);
  const [first = ""] = pieces;
  if (pieces.length === 1) return { path: placed(resolve(cwd, first)), isTree: false, sparesIgnored, matches: () => true };
  const slash = first.lastIndexOf("/");
  const path = placed(resolve(cwd, slash < 0 ? "." : first.slice(0, slash) || "/"));
  const rest = [first.slice(slash + 1), ...pieces.slice(1)].map((piece) => escaped(keptPath(piece))).join("[^]*");
  const expression = new RegExp(`^${rest}$`);
  const start = path === "/" ? 1 : path.length + 1;
  return { path, isTree: true, sparesIgnored, matches: (below) => expression.test(below.slice(start)) };
}

/** Returns the text between the stars. A backslash quotes a star or a backslash. */
function piecesOf(pattern: string): readonly string[] {
  const pieces = [""];
  for (const [token] of pattern.matchAll(/\\[\\*]|[^]/g)) {
    if (token === "*") pieces.push("");
    else pieces[pieces.length - 1] += token.length > 1 ? token.slice(1) : token;
  }
  return pieces;
}

/** A link at the end is not followed: a deletion is one of the link. */
function placed(path: string): string {
  return keptPath(path === "/" ? path : resolve(realTarget(dirname(path)), basename(path)));
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}

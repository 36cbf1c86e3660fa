import { join, relative } from "node:path/posix";
import { type DirEntry, type Vfs, VfsError } from "@keelson/protocol";
import type { Ignore } from "ignore";
import { realPath } from "./workspace-files.ts";

// Folders that hold what was made or fetched, not what was written. They are walked when they are asked for by name.
const SKIPPED_FOLDERS: ReadonlySet<string> = new Set([
  ".git",
  ".hg",
  ".svn",
  "node_modules",
  "vendor",
  "target",
  "dist",
  "build",
  "__pycache__",
  ".venv",
  "venv",
  ".next",
  ".cache",
  ".idea",
  ".vscode",
]);

export interface WalkOptions {
  /** The folder to walk; a real path. */
  readonly start: string;
  /** Whether a folder, relative to `start`, can hold what is looked for. */
  enter?(path: string): boolean;
  /** Names of folders that are walked although they would be skipped. */
  readonly wanted?: ReadonlySet<string>;
  /** Told the path of a folder that was left out by its name, relative to `start`. */
  onSkip?(path: string): void;
  readonly signal?: AbortSignal;
}

export interface WalkedFile {
  /** Relative to the start. */
  readonly path: string;
  readonly entry: DirEntry;
}

interface Rules {
  readonly folder: string;
  readonly ignore: Ignore;
}
interface Folder {
  readonly path: string;
  readonly relativePath: string;
  readonly rules: readonly Rules[];
}

/**
 * Files and folders below a folder, depth first and in order, without what git ignores, without folders such as
 * `node_modules`, and without following links. Folders that cannot be read are left out, except the start.
 */
export async function* walkFiles(files: Vfs, options: WalkOptions): AsyncGenerator<WalkedFile> {
  const { start, enter = () => true, wanted, onSkip, signal } = options;
  const pending: (WalkedFile & { readonly rules: readonly Rules[] })[] = await list(
    files,
    { path: start, relativePath: "", rules: await rulesAbove(files, start) },
    signal,
  );
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    signal?.throwIfAborted();
    const { entry, path, rules } = next;
    if (entry.isDir && SKIPPED_FOLDERS.has(entry.name) && !wanted?.has(entry.name)) {
      onSkip?.(path);
      continue;
    }
    if (isIgnored(rules, entry)) continue;
    yield { path, entry };
    if (!entry.isDir || !enter(path) || (await isLink(files, entry.path))) continue;
    try {
      for (const inner of await list(files, { path: entry.path, relativePath: path, rules }, signal)) pending.push(inner);
    } catch (error) {
      if (!VfsError.is(error)) throw error; // else: gone meanwhile, or not ours to read
    }
  }
}

/** Last name first, for a stack. */
async function list(
  files: Vfs,
  { path, relativePath, rules }: Folder,
  signal?: AbortSignal,
): Promise<(WalkedFile & { readonly rules: readonly Rules[] })[]> {
  const entries = await files.ls(path, signal === undefined ? {} : { signal });
  const own = entries.some((entry) => entry.name === ".gitignore" && !entry.isDir) ? await rulesOf(files, path, ".gitignore") : undefined;
  const all = own === undefined ? rules : [...rules, own];
  return entries
    .toReversed()
    .map((entry) => ({ entry, path: relativePath === "" ? entry.name : `${relativePath}/${entry.name}`, rules: all }));
}

/** What the folders from the root down to the start, without the start itself, say about it. */
async function rulesAbove(files: Vfs, start: string): Promise<Rules[]> {
  const { root = "/" } = files;
  const found = [await rulesOf(files, root, ".git/info/exclude")];
  const inside = relative(root, start);
  if (inside !== "" && !inside.startsWith("..")) {
    let folder = root;
    for (const name of inside.split("/")) {
      found.push(await rulesOf(files, folder, ".gitignore"));
      folder = join(folder, name);
    }
  }
  return found.filter((rules) => rules !== undefined);
}

async function rulesOf(files: Vfs, folder: string, file: string): Promise<Rules | undefined> {
  try {
    const { content } = await files.read(join(folder, file));
    const { default: ignore } = await import("ignore");
    // Case matters in git on the systems where it matters in paths.
    return {
      folder,
      ignore: ignore({ ignorecase: process.platform === "darwin" || process.platform === "win32" }).add(
        Buffer.from(content).toString("utf8"),
      ),
    };
  } catch (error) {
    if (VfsError.is(error)) return undefined; // there is none, or none that can be read
    throw error;
  }
}

/** The nearest file that says anything about an entry decides. */
function isIgnored(rules: readonly Rules[], { path, isDir }: DirEntry): boolean {
  for (let index = rules.length - 1; index >= 0; index--) {
    const { folder, ignore } = rules[index] as Rules;
    const { ignored, unignored } = ignore.test(relative(folder, path) + (isDir ? "/" : ""));
    if (ignored || unignored) return ignored;
  }
  return false;
}

async function isLink(files: Vfs, path: string): Promise<boolean> {
  try {
    return (await realPath(files, path)) !== path;
  } catch {
    return true; // a link that leads nowhere or outside
  }
}

import { lstatSync, readFileSync, realpathSync, type Stats } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";

const MAX_BYTES = 64 * 1024;

/** A worktree that `git worktree add` made beside the one that its repository began with. Paths are real and absolute. */
export interface LinkedWorktree {
  readonly root: string;
  /** The folder that the repository began with; of a bare repository, the repository itself. */
  readonly main: string;
  /** The folder in which git keeps what is of this worktree alone. */
  readonly gitFolder: string;
  /** The folder of git that all worktrees share. */
  readonly commonFolder: string;
}

/**
 * Returns the linked worktree whose root is a folder; `undefined` if it is none. The repository must name the worktree, too: a `.git` file that was
 * unpacked from an archive can name any repository.
 */
export function linkedWorktree(root: string): LinkedWorktree | undefined {
  const named = /^gitdir: ([^\n]+)$/.exec(textOf(join(root, ".git"))?.trim() ?? "")?.[1];
  const gitFolder = named === undefined ? undefined : realOf(resolve(root, named));
  const shared = gitFolder === undefined ? undefined : textOf(join(gitFolder, "commondir"))?.trim();
  if (gitFolder === undefined || shared === undefined || shared === "") return undefined;
  const commonFolder = realOf(resolve(gitFolder, shared));
  if (commonFolder === undefined || dirname(gitFolder) !== join(commonFolder, "worktrees")) return undefined;
  const back = textOf(join(gitFolder, "gitdir"))?.trim() ?? "";
  const own = realOf(root);
  if (own === undefined || basename(back) !== ".git" || realOf(dirname(resolve(gitFolder, back))) !== own) return undefined;
  return { root: own, main: mainOf(commonFolder), gitFolder, commonFolder };
}

/** Returns the root of the repository that holds a folder, as `repositoryRoot` does; `undefined` if there is none. */
export function findRoot(folder: string): string | undefined {
  for (let at = folder; ; at = dirname(at)) {
    if (statOf(join(at, ".git")) !== undefined) return at;
    if (dirname(at) === at) return undefined;
  }
}

/** Returns the same folder in the first worktree of a repository, for a folder of a linked one; any other folder as it is. */
export function mainFolderOf(folder: string): string {
  const root = findRoot(folder);
  const linked = root === undefined ? undefined : linkedWorktree(root);
  return root === undefined || linked === undefined ? folder : join(linked.main, relative(root, folder));
}

/** Returns the folders of git that commands in a linked worktree must write for a commit; none elsewhere, because there they are in the worktree. */
export function commitFolders(folder: string): readonly string[] {
  const root = findRoot(folder);
  const linked = root === undefined ? undefined : linkedWorktree(root);
  if (linked === undefined) return [];
  const { gitFolder, commonFolder } = linked;
  const shared = ["objects", "refs", "logs", "reftable", "lfs"].map((name) => join(commonFolder, name));
  return [gitFolder, ...shared].filter((path) => statOf(path)?.isDirectory() === true);
}

function mainOf(commonFolder: string): string {
  if (basename(commonFolder) === ".git") return dirname(commonFolder);
  // A submodule: its settings name the folder in which it is checked out.
  const named = /^\s*worktree\s*=\s*([^"\\#;\n]+?)\s*$/m.exec(textOf(join(commonFolder, "config")) ?? "")?.[1];
  return (named === undefined ? undefined : realOf(resolve(commonFolder, named))) ?? commonFolder;
}

/** @returns `undefined` for what is no file: a pipe of this name must not be waited for */
function textOf(path: string): string | undefined {
  const stats = statOf(path);
  if (stats === undefined || !stats.isFile() || stats.size > MAX_BYTES) return undefined;
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

function statOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function realOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

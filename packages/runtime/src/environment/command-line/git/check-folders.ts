import { lstat, readdir, readFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import type { GitFolders } from "./find-repository.ts";
import { parseGitConfig } from "./parse-git-config.ts";

/** Folders of git whose files it quotes in its messages: states of a rebase, lists of other stores of objects. */
const QUOTED = ["", "info", "logs", "objects/info", "rebase-apply", "rebase-merge", "sequencer"];

/**
 * Checks that the folders of a repository belong to the folder in which git found them, so that no command shows another repository or a file
 * elsewhere: no link is among their files, and a folder that a file named `.git` points to points back.
 * @throws Error with a sentence for a person
 */
export async function checkFolders({ top, own, common }: GitFolders): Promise<void> {
  const git = join(top, ".git");
  if ((await lstat(git)).isSymbolicLink()) throw new Error(`${git} is a link.`);
  if (own !== git && !(await pointsBack(own, git))) throw new Error(`${git} points to ${own}, which does not belong to it.`);
  if (common !== own && dirname(dirname(own)) !== common) throw new Error(`${own} is no folder of a work tree of ${common}.`);
  for (const folder of new Set([own, common]))
    for (const name of QUOTED) {
      const entries = await readdir(join(folder, name), { withFileTypes: true }).catch(() => []);
      const link = entries.find((entry) => entry.isSymbolicLink());
      if (link !== undefined) throw new Error(`${join(folder, name, link.name)} is a link.`);
    }
}

/** True if a folder of git names the file `.git` that points to it, as that of a work tree does, or its folder, as that of a submodule does. */
async function pointsBack(own: string, git: string): Promise<boolean> {
  const tree = await readFile(join(own, "gitdir"), "utf8").catch(() => undefined);
  if (tree !== undefined) return resolve(own, tree.trim()) === git;
  const config = await readFile(join(own, "config"), "utf8").catch(() => "");
  const worktree = parseGitConfig(config)?.find(({ name }) => name === "core.worktree")?.value;
  return worktree !== undefined && resolve(own, worktree) === dirname(git);
}

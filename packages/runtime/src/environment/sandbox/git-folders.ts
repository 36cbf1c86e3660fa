import { readdir, readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { type DiskView, OWN_VIEW } from "../files/disk-view.ts";

const MAX_FOLDERS = 2000;
const MAX_DEPTH = 6;
const MAX_SETTINGS_FILES = 20;
const MAX_SETTINGS_BYTES = 1024 * 1024;

/** The folders in which git keeps a repository: those of the repositories in the roots and of their submodules, and bare ones. */
export interface GitFolders {
  readonly repositories: readonly string[];
  /** What git keeps of each worktree beside the first. */
  readonly worktrees: readonly string[];
}

/** Looks for them in the first folders of the roots. */
export async function findGitFolders(roots: readonly string[], disk: DiskView = OWN_VIEW): Promise<GitFolders> {
  const repositories = new Set<string>();
  const worktrees: string[] = [];
  const left = roots.map((folder) => ({ folder, level: 0 }));
  for (let looked = 0; left.length > 0 && looked < MAX_FOLDERS; looked++) {
    const { folder, level } = left.shift() as { folder: string; level: number };
    const entries = await readdir(disk.locate(folder), { withFileTypes: true }).catch(() => []);
    const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
    const isRepository = ["objects", "refs"].every((name) => folders.includes(name)) && entries.some(({ name }) => name === "HEAD");
    if (isRepository || (basename(folder) === ".git" && level > 0)) {
      repositories.add(folder);
      if (folders.includes("worktrees"))
        for (const entry of await readdir(disk.locate(join(folder, "worktrees")), { withFileTypes: true }))
          if (entry.isDirectory()) worktrees.push(join(folder, "worktrees", entry.name));
      // The name of a submodule may have slashes.
      if (folders.includes("modules")) left.unshift({ folder: join(folder, "modules"), level: 0 });
      continue;
    }
    if (level === MAX_DEPTH) continue;
    for (const name of folders) {
      if (name === "node_modules") continue;
      const next = { folder: join(folder, name), level: level + 1 };
      // Those at the roots before what lies deeper.
      if (name === ".git") left.unshift(next);
      else left.push(next);
    }
  }
  return { repositories: [...repositories], worktrees };
}

/**
 * What the settings of a repository name as its hooks, or as more settings: absolute paths. Read in plain text, a little too much rather
 * than too little.
 */
export async function namedBySettings(repository: string, disk: DiskView = OWN_VIEW): Promise<readonly string[]> {
  const worktree = basename(repository) === ".git" ? dirname(repository) : repository;
  const named = new Set<string>();
  const files = [
    join(repository, "config"),
    join(repository, "config.worktree"),
    join(homedir(), ".gitconfig"),
    join(homedir(), ".config/git/config"),
  ];
  for (let index = 0; index < files.length && index < MAX_SETTINGS_FILES; index++) {
    const file = files[index] as string;
    const real = await disk.realPath(file).catch(() => undefined);
    const text = real === undefined ? "" : (await readFile(disk.locate(real), "utf8").catch(() => "")).slice(0, MAX_SETTINGS_BYTES);
    for (const [, key = "", given = ""] of text.matchAll(/(?:^|\])[ \t]*(hookspath|path)[ \t]*=[ \t]*(.*)$/gim)) {
      const value = given
        .replace(/[ \t]+[#;].*$/, "")
        .replaceAll('"', "")
        .trim();
      const isHooks = key.toLowerCase() === "hookspath";
      const path = value.startsWith("~/") ? join(homedir(), value.slice(2)) : resolve(isHooks ? worktree : dirname(file), value);
      named.add(path);
      if (!isHooks) files.push(path);
    }
  }
  return [...named];
}

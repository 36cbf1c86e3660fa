import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { type DiskView, OWN_VIEW } from "../files/disk-view.ts";

const MAX_SETTINGS_FILES = 20;
const MAX_SETTINGS_BYTES = 1024 * 1024;

/**
 * Returns the absolute paths that the settings of a repository name as hooks or as further settings. Reads the settings as plain text, and rather
 * too much than too little.
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

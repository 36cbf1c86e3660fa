import { readFile, realpath, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";

/** The folders in which git keeps what it knows of a repository. */
export interface GitFolders {
  /** The folder in which `.git` is. */
  readonly top: string;
  /** The folder of this work tree: `.git`, or another that a file of that name points to. */
  readonly own: string;
  /** The folder that all work trees share. */
  readonly common: string;
}

/** The end of the sentence about a folder whose settings a clone of another repository can bring. */
export const IS_EMBEDDED = "is a repository of git itself, whose settings came with its folder.";

/**
 * Finds the repository of a folder as git does. `"none"` if there is none.
 * @throws Error with a sentence for a person, if git would find one that is not an ordinary one
 */
export async function findRepository(folder: string): Promise<GitFolders | "none"> {
  // Git asks the system for its folder, so that links are resolved.
  let place = await realpath(resolve(folder)).catch(() => resolve(folder));
  for (;;) {
    const git = join(place, ".git");
    const kind = await kindOf(git);
    if (kind !== undefined) return foldersOf(place, kind === "folder" ? git : await pointedTo(git));
    if ((await kindOf(join(place, "HEAD"))) !== undefined && (await hasAny(place, ["objects", "refs", "commondir"])))
      throw new Error(`${place} ${IS_EMBEDDED}`);
    const above = dirname(place);
    if (above === place) return "none";
    place = above;
  }
}

async function foldersOf(top: string, own: string): Promise<GitFolders> {
  if ((await kindOf(join(own, "HEAD"))) === undefined) throw new Error(`${own} is no folder of git that is understood.`);
  const shared = await readFile(join(own, "commondir"), "utf8").catch(() => undefined);
  return { top, own, common: shared === undefined ? own : resolve(own, shared.replace(/\r?\n$/, "")) };
}

/** The folder that a file with the name `.git` names. */
async function pointedTo(file: string): Promise<string> {
  const text = await readFile(file, "utf8").catch(() => "");
  const target = /^gitdir: ([^\r\n]+)\r?\n?$/.exec(text)?.[1];
  if (target === undefined) throw new Error(`${file} does not name a folder of git in a way that is understood.`);
  return resolve(dirname(file), target);
}

async function hasAny(folder: string, names: readonly string[]): Promise<boolean> {
  return (await Promise.all(names.map((name) => kindOf(join(folder, name))))).some((kind) => kind !== undefined);
}

async function kindOf(path: string): Promise<"folder" | "other" | undefined> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) return undefined;
  return found.isDirectory() ? "folder" : "other";
}

import { open, readdir, realpath, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, isAbsolute, join, relative, resolve } from "node:path";
import { checkFolders } from "./check-folders.ts";
import { findRepository, type GitFolders } from "./find-repository.ts";
import { isHarmlessSetting } from "./harmless-settings.ts";
import { type GitSetting, parseGitConfig } from "./parse-git-config.ts";

const MAX_CONFIG_BYTES = 256 * 1024;
const MAX_INDEX_BYTES = 64 * 1024 * 1024;
const MAX_INCLUDES = 20;
/** The mode of an entry that is a submodule, in the index of git. */
const SUBMODULE_MODE = Buffer.from([0, 0, 0xe0, 0]);

/** Files that belong to the machine and to the user. */
function userFiles(): readonly string[] {
  const home = homedir();
  const xdg = process.env["XDG_CONFIG_HOME"];
  return [
    "/etc/gitconfig",
    "/usr/local/etc/gitconfig",
    "/opt/homebrew/etc/gitconfig",
    join(xdg === undefined || xdg === "" ? join(home, ".config") : xdg, "git", "config"),
    join(home, ".gitconfig"),
  ];
}

/**
 * Returns the reason why a command of git that only looks may do more in this folder; `undefined` if there is none. It reads the settings that
 * apply: those of the machine, the user and the repository. It also looks for the hook that runs after git refreshes its index, and for
 * submodules, whose own settings `status` and `diff` obey.
 * @param within the folder in which all files must be that the command may show; `undefined` if it shows none
 */
export async function reasonGitDoesMore(folder: string, within?: string): Promise<string | undefined> {
  try {
    for (const file of userFiles()) await checkFile(file, "user");
    const found = await findRepository(folder);
    if (found === "none") return undefined;
    await checkFolders(found);
    if (within !== undefined && (await isOutside(found.top, within)))
      throw new Error(
        `The repository begins at ${found.top}, outside of the working directory, and the command may show any of its files.`,
      );
    const settings = await checkFile(join(found.common, "config"), "repository", found);
    await checkFile(join(found.own, "config.worktree"), "repository", found);
    await checkHook(found, settings);
    await checkIndex(found);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

async function isOutside(top: string, within: string): Promise<boolean> {
  const from = relative(await realpath(within).catch(() => within), top);
  return from === ".." || from.startsWith("../") || isAbsolute(from);
}

/** Reads a file of settings and those that it includes. Returns the settings. */
async function checkFile(path: string, owner: "repository" | "user", folders?: GitFolders, depth = 0): Promise<readonly GitSetting[]> {
  const text = await textOf(path);
  if (text === undefined) return [];
  const settings = parseGitConfig(text);
  if (settings === undefined || depth > MAX_INCLUDES) throw new Error(`The settings of git in ${path} are not understood.`);
  for (const setting of settings) {
    const { name, value = "" } = setting;
    if (owner === "user" && /^(?:include|includeif\..*)\.path$/s.test(name)) {
      const target = value.startsWith("~/") ? join(homedir(), value.slice(2)) : isAbsolute(value) ? value : resolve(dirname(path), value);
      await checkFile(target, owner, folders, depth + 1);
    } else if (name === "core.hookspath" || (name === "core.worktree" && folders !== undefined && isOwnTree(value, folders))) continue;
    else if (!isHarmlessSetting(setting, owner))
      throw new Error(`Git may run or read more than its words say, because ${path} sets ${name}.`);
  }
  return settings;
}

/** True if the work tree that is set is the one in which git was found, as it is for a submodule. */
function isOwnTree(value: string, { own, top }: GitFolders): boolean {
  return resolve(own, value) === top;
}

/** The hook `post-index-change` runs after git refreshed its index, which `status` and `diff` do. No other hook belongs to a command that only looks. */
async function checkHook({ common, top }: GitFolders, settings: readonly GitSetting[]): Promise<void> {
  const set: string[] = [];
  for (const file of userFiles()) set.push(...hookFolders(await checkFile(file, "user")));
  set.push(...hookFolders(settings));
  const folders = set.map((value) => (value.startsWith("~/") ? join(homedir(), value.slice(2)) : resolve(top, value)));
  for (const folder of [join(common, "hooks"), ...folders])
    if (await isThere(join(folder, "post-index-change")))
      throw new Error(`Git runs the hook ${join(folder, "post-index-change")} after it refreshed its index.`);
}

function hookFolders(settings: readonly GitSetting[]): readonly string[] {
  return settings.flatMap(({ name, value }) => (name === "core.hookspath" && value !== undefined && value !== "" ? [value] : []));
}

/** Looks for the mode of submodules in the index. Another place in it may hold the same bytes by chance, which only leads to a question. */
async function checkIndex({ own, common }: GitFolders): Promise<void> {
  const path = join(own, "index");
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) return;
  const isSplit = [...(await readdir(own)), ...(await readdir(common))].some((name) => name.startsWith("sharedindex."));
  if (found.size > MAX_INDEX_BYTES || isSplit)
    throw new Error(`Whether ${own} has submodules, whose settings git obeys, was not looked for.`);
  if (await hasSubmodules(path, `${found.mtimeMs} ${found.size} ${found.ino}`))
    throw new Error("The repository has submodules, whose own settings git obeys.");
}

const indexes = new Map<string, { readonly state: string; readonly hasSubmodules: boolean }>();
const MAX_INDEXES = 20;

/** An index of a large repository has megabytes, so that the finding is kept until the file changes. */
async function hasSubmodules(path: string, state: string): Promise<boolean> {
  const known = indexes.get(path);
  if (known?.state === state) return known.hasSubmodules;
  const found = ((await bytesOf(path, MAX_INDEX_BYTES)) ?? Buffer.alloc(0)).includes(SUBMODULE_MODE);
  if (indexes.size >= MAX_INDEXES) indexes.clear();
  indexes.set(path, { state, hasSubmodules: found });
  return found;
}

async function textOf(path: string): Promise<string | undefined> {
  return (await bytesOf(path, MAX_CONFIG_BYTES))?.toString("utf8");
}

/** The content of an ordinary file; `undefined` if there is none. */
async function bytesOf(path: string, most: number): Promise<Buffer | undefined> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) return undefined;
  if (!found.isFile() || found.size > most) throw new Error(`${path} is no file of git that is understood.`);
  const file = await open(path);
  try {
    return await file.readFile();
  } finally {
    await file.close();
  }
}

async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

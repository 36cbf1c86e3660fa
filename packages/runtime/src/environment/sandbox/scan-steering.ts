import { lstatSync, readFileSync, readlinkSync, type Stats } from "node:fs";
import { isIgnored, parseGitignore, type RulesOfFolder } from "../search/gitignore-rules.ts";
import { type NameStep, PathNames } from "../workspace/path-names.ts";
import { GIT_STEERING_PATHS, STEERING_PATHS } from "../workspace/steering-paths.ts";
import { type FolderListing, FolderListings, isMissing, systemPath } from "./folder-listing.ts";
import { isMovedAside } from "./move-aside.ts";
import { isPlainGitEntry, namedByGitFile, type ScannedRoot } from "./plain-git-entry.ts";

/** The result of a scan of a folder for files that steer later work. Paths are relative to it, in bytes as of `FolderListing`. */
export interface SteeringScan {
  /** Entries of `STEERING_PATHS`, and entries of git that say more than a repository says by itself. Each includes all below it. */
  readonly steering: readonly string[];
  /** Entries of git that exist and say nothing else, except those that git must be able to write. */
  readonly plain: readonly string[];
  /** Folders in which git keeps a repository, bare ones and those of submodules included. */
  readonly repositories: readonly string[];
  /** Folders in which git keeps a worktree beside the first. */
  readonly worktrees: readonly string[];
  /** Symbolic links, with their targets. */
  readonly links: ReadonlyMap<string, string>;
  /** True if there are more folders than a scan reads. */
  readonly isCut: boolean;
}

/** The number of folders of a workspace that a scan reads at most: some seconds of work. */
export const MAX_FOLDERS = 50_000;
// Folders of packages are not opened as a workspace.
const SKIPPED_FOLDERS: ReadonlySet<string> = new Set(["node_modules"]);
const NAMES = new PathNames(STEERING_PATHS);
const WORKTREE_PATHS = ["commondir", "gitdir", "config.worktree", "rebase-merge/git-rebase-todo", "sequencer/todo"];

/**
 * Finds files that steer later work. Folders that a `.gitignore` leaves out are not entered, but only by the rules of the first scan:
 * a command could write others to hide a folder.
 */
export class SteeringScanner {
  readonly #listings = new FolderListings();
  #rules: Map<string, RulesOfFolder | undefined> | undefined;
  readonly #seen = new Map<string, SeenFolder>();

  /** @param start a folder below the root, without slash at the end; without the rules of `.gitignore` unless it is the root itself */
  scan(root: ScannedRoot, start = "", maxFolders: number = MAX_FOLDERS): SteeringScan {
    const isFirst = this.#rules === undefined;
    const known = (this.#rules ??= new Map());
    const found: Found = { steering: new Set(), plain: new Set(), repositories: new Set(), worktrees: new Set() };
    const links = new Map<string, string>();
    const gitFiles: string[] = [];
    const left: { readonly folder: string; readonly step: NameStep; readonly rules: RulesOfFolder | undefined }[] = [
      { folder: start, step: [], rules: undefined },
    ];
    let looked = 0;
    for (; looked < left.length && looked < maxFolders; looked++) {
      const { folder, step, rules: above } = left[looked] as (typeof left)[number];
      const listing = this.#listings.list(joined(root.location, folder));
      if (isFirst && listing.files.includes(".gitignore")) known.set(folder, readRules(root.location, folder, above));
      const rules = start === "" ? (known.get(folder) ?? above) : undefined;

      const seen = this.#look(root, folder, { listing, step, rules });
      for (const path of seen.steering) found.steering.add(path);
      for (const [path, target] of seen.links) links.set(path, target);
      gitFiles.push(...seen.gitFiles);
      for (const path of seen.repositories) this.#lookAtRepository(root, path, found);
      for (const { path, step: next } of seen.entered) left.push({ folder: path, step: next, rules });
    }
    for (const path of gitFiles) {
      const named = namedByGitFile(root, path);
      const isKnown = named !== undefined && (found.repositories.has(named) || found.worktrees.has(named));
      (isKnown ? found.plain : found.steering).add(path);
    }
    const { steering, plain, repositories, worktrees } = found;
    const isCut = looked < left.length;
    return { steering: [...steering], plain: [...plain], repositories: [...repositories], worktrees: [...worktrees], links, isCut };
  }

  /** Reads one list of a folder; the result is kept for as long as the list is the same. */
  #look(
    root: ScannedRoot,
    folder: string,
    { listing, step, rules }: { readonly listing: FolderListing; readonly step: NameStep; readonly rules: RulesOfFolder | undefined },
  ): SeenFolder {
    const kept = step.length === 0 ? this.#seen.get(folder) : undefined;
    if (kept?.listing === listing && kept.rules === rules) return kept;
    const seen = {
      ...{ listing, rules, gitFiles: [] as string[], links: [] as [string, string][], steering: [] as string[] },
      ...{ repositories: isRepository(listing) ? [folder] : [], entered: [] as { readonly path: string; readonly step: NameStep }[] },
    };
    // Programs could still read a file there whose name they know.
    if (listing.isClosed === true && folder !== "") seen.steering.push(folder);
    for (const name of listing.links) {
      const path = below(folder, name);
      const target = readLink(joined(root.location, path));
      if (target !== undefined) seen.links.push([path, target]);
      if (name === ".git" || isNamed(step, name)) seen.steering.push(path);
    }
    for (const name of listing.files) {
      if (isNamed(step, name)) seen.steering.push(below(folder, name));
      else if (name === ".git") seen.gitFiles.push(below(folder, name));
    }
    for (const name of listing.folders) {
      const path = below(folder, name);
      const next = NAMES.enter(step, name);
      if (name === ".git") seen.repositories.push(path);
      else if (next === "named") seen.steering.push(path);
      else if (!SKIPPED_FOLDERS.has(name) && !isIgnored(rules, `/${path}`, true)) seen.entered.push({ path, step: next });
    }
    if (step.length === 0) this.#seen.set(folder, seen);
    return seen;
  }

  #lookAtRepository(root: ScannedRoot, folder: string, found: Found): void {
    if (found.repositories.has(folder)) return;
    found.repositories.add(folder);
    this.#lookAtEntries(root, folder, found);
    const worktrees = below(folder, "worktrees");
    const { folders, links } = this.#listings.list(joined(root.location, worktrees));
    for (const name of links) found.steering.add(below(worktrees, name));
    for (const worktree of folders.map((name) => below(worktrees, name))) {
      found.worktrees.add(worktree);
      for (const name of WORKTREE_PATHS) this.#take(root, below(worktree, name), name, found);
    }
  }

  #lookAtEntries(root: ScannedRoot, folder: string, found: Found): void {
    for (const name of GIT_STEERING_PATHS) {
      const path = below(folder, name);
      if (name === "hooks") this.#lookAtHooks(root, path, found);
      else if (name === "modules") this.#lookAtModules(root, path, found);
      else this.#take(root, path, name, found);
    }
  }

  #lookAtHooks(root: ScannedRoot, path: string, found: Found): void {
    const type = typeAt(joined(root.location, path));
    if (type === undefined) return;
    if (type !== "folder") return void found.steering.add(path);
    const { folders, links, files } = this.#listings.list(joined(root.location, path));
    const hooks = [...folders, ...links, ...files.filter((name) => !name.endsWith(".sample"))];
    for (const name of hooks) found.steering.add(below(path, name));
    found.plain.add(path);
  }

  /** The name of a submodule may have slashes. */
  #lookAtModules(root: ScannedRoot, path: string, found: Found): void {
    const type = typeAt(joined(root.location, path));
    if (type === undefined) return;
    if (type !== "folder") return void found.steering.add(path);
    found.plain.add(path);
    const left = [path];
    for (let looked = 0; looked < left.length && looked < MAX_FOLDERS; looked++) {
      const folder = left[looked] as string;
      const listing = this.#listings.list(joined(root.location, folder));
      if (folder !== path && isRepository(listing)) {
        this.#lookAtRepository(root, folder, found);
        continue;
      }
      // Not yet a repository, but git keeps what is there when it makes one.
      if (folder !== path) this.#lookAtEntries(root, folder, found);
      for (const name of listing.links) found.steering.add(below(folder, name));
      left.push(...listing.folders.filter((name) => name !== "hooks").map((name) => below(folder, name)));
    }
  }

  #take(root: ScannedRoot, path: string, name: string, found: Found): void {
    const type = typeAt(joined(root.location, path));
    if (type === undefined) return;
    const isPlain = type === "file" && isPlainGitEntry(root, path, name);
    if (!isPlain) found.steering.add(path);
    // Git rewrites these at every step.
    else if (!name.endsWith("todo")) found.plain.add(path);
  }
}

/** The result for one folder, without what is below. */
interface SeenFolder {
  readonly listing: FolderListing;
  readonly rules: RulesOfFolder | undefined;
  readonly steering: readonly string[];
  readonly gitFiles: readonly string[];
  readonly repositories: readonly string[];
  readonly links: readonly (readonly [path: string, target: string])[];
  readonly entered: readonly { readonly path: string; readonly step: NameStep }[];
}

interface Found {
  readonly steering: Set<string>;
  readonly plain: Set<string>;
  readonly repositories: Set<string>;
  readonly worktrees: Set<string>;
}

/** Names that were given to move an entry aside are obeyed by no program. */
function isNamed(step: NameStep, name: string): boolean {
  return NAMES.enter(step, name) === "named" && !isMovedAside(name);
}

/** True if git takes a folder for a repository (`is_git_directory`), which follows links. */
function isRepository({ folders, links, files }: FolderListing): boolean {
  if (!files.includes("HEAD") && !links.includes("HEAD")) return false;
  const has = (name: string): boolean => folders.includes(name) || links.includes(name) || files.includes(name);
  return has("commondir") || (has("objects") && has("refs"));
}

function readRules(root: string, folder: string, above: RulesOfFolder | undefined): RulesOfFolder | undefined {
  try {
    // A path is compared as bytes: a rule with other letters than ASCII leaves nothing out.
    const text = readFileSync(systemPath(joined(root, below(folder, ".gitignore"))), "latin1");
    return { folder: `/${folder}`, rules: parseGitignore(text), above };
  } catch (error) {
    if (isMissing(error)) return above;
    throw error;
  }
}

function typeAt(path: string): "file" | "folder" | "other" | undefined {
  let stats: Stats | undefined;
  try {
    stats = lstatSync(systemPath(path), { throwIfNoEntry: false });
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
  return stats && (stats.isFile() ? "file" : stats.isDirectory() ? "folder" : "other");
}

function readLink(path: string): string | undefined {
  try {
    return readlinkSync(systemPath(path), { encoding: "latin1" });
  } catch (error) {
    if (isMissing(error) || (error as NodeJS.ErrnoException).code === "EINVAL") return undefined;
    throw error;
  }
}

function joined(root: string, path: string): string {
  return path === "" ? root : `${root === "/" ? "" : root}/${path}`;
}

function below(folder: string, name: string): string {
  return folder === "" ? name : `${folder}/${name}`;
}

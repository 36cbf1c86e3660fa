import { type SearchOmission, VfsError } from "@keelson/protocol";
import { createGitListing, type GitState } from "./git-listing.ts";
import type { Pauses } from "./pauses.ts";
import type { ListedEntry, SearchableFiles, SearchFolder } from "./searchable-files.ts";

export interface SearchPlan {
  /** Leave out `.git` and what git would not list. */
  readonly gitignore: boolean;
  /** Names of folders that are left out, unless git tracks files in them. */
  readonly leaveOut: ReadonlySet<string>;
  /** False if the search needs nothing below this folder. Paths are relative to the start. */
  enters(path: string): boolean;
  /** True if the search needs the entry itself. */
  wants(path: string, isDir: boolean): boolean;
  /** True if the caller named the entry, which is then left out by no rule. */
  isNamed(path: string): boolean;
  omit(omission: SearchOmission): void;
}

export interface WalkedEntry {
  /** Absolute. */
  readonly path: string;
  readonly relativePath: string;
  readonly kind: ListedEntry["kind"];
  readonly name: string;
  /** The folder that holds it, which is open until the walk goes on. */
  readonly folder: SearchFolder;
}

interface OpenFolder {
  readonly folder: SearchFolder;
  readonly relativePath: string;
  readonly git: GitState | undefined;
  next: number;
}

/**
 * Returns the entries below the folder `start` that the plan needs, depth first, names in ascending order. Links are returned and never followed. The plan
 * receives entries that are left out, and folders that cannot be read, except for `start`.
 */
export async function* walkSearch(
  files: SearchableFiles,
  start: string,
  plan: SearchPlan,
  { pauses, signal }: { readonly pauses: Pauses; readonly signal: AbortSignal | undefined },
): AsyncGenerator<WalkedEntry> {
  const { enters, wants, isNamed, omit } = plan;
  const listing = plan.gitignore ? createGitListing(files, omit, signal) : undefined;
  const open: OpenFolder[] = [];
  /** Continues in a folder, which is closed when it is left. */
  async function enter(folder: SearchFolder, relativePath: string, above?: GitState): Promise<void> {
    open.push({ folder, relativePath, git: undefined, next: 0 });
    if (listing !== undefined) open[open.length - 1] = { folder, relativePath, git: await listing.enter(folder, above), next: 0 };
  }
  /** Returns the state of git in an entry; `left-out` if the entry is left out, which the plan receives. */
  async function judge({ git }: OpenFolder, entry: Omit<WalkedEntry, "folder">): Promise<GitState | "left-out" | undefined> {
    const { path, relativePath, kind, name } = entry;
    const isDir = kind === "folder";
    if (files.isShown?.(path) === false) {
      omit({ path: parentOf(path), isDir: true, reason: "denied", message: "It holds entries that the policy of this environment hides." });
      return "left-out";
    }
    if (isNamed(relativePath)) return git && { ...git, onlyTracked: false };
    if (plan.gitignore && name === ".git") return "left-out";
    const found = git && (await listing?.decide(git, path, isDir));
    if (found === "ignored") {
      omit({ path, isDir, reason: "ignored" });
      return "left-out";
    }
    if (isDir && found !== "tracked" && plan.leaveOut.has(name)) {
      if (!(await git?.repository?.tracks(path, true))) {
        omit({ path, isDir, reason: "left-out" });
        return "left-out";
      }
      return git && { ...git, onlyTracked: true };
    }
    return git && found === "tracked" ? { ...git, onlyTracked: true } : git;
  }

  await enter(await files.openFolder(start), "");
  try {
    for (let current = open.at(-1); current !== undefined; current = open.at(-1)) {
      const listed = current.folder.entries[current.next++];
      if (listed === undefined) {
        open.pop();
        current.folder.close();
        continue;
      }
      if (pauses.isDue()) await pauses.pause();
      signal?.throwIfAborted();
      const { folder } = current;
      const { name, kind } = listed;
      const path = folder.path === "/" ? `/${name}` : `${folder.path}/${name}`;
      const relativePath = current.relativePath === "" ? name : `${current.relativePath}/${name}`;
      const isDir = kind === "folder";
      const isWanted = wants(relativePath, isDir);
      const isEntered = isDir && enters(relativePath);
      if (!isWanted && !isEntered) continue;
      const entry: WalkedEntry = { path, relativePath, kind, name, folder };
      const git = await judge(current, entry);
      if (git === "left-out") continue;
      if (isWanted) yield entry;
      if (!isEntered) continue;
      try {
        await enter(await folder.open(name), relativePath, git);
      } catch (error) {
        if (!VfsError.is(error) || isOutOfDescriptors(error)) throw error; // the rest would be missing, too
        omitUnreadable(error, { path, isDir, name }, omit);
      }
    }
  } finally {
    for (const { folder } of open) folder.close();
  }
}

/** Reports a file or folder that could not be read, unless it is gone meanwhile. */
export function omitUnreadable(
  error: VfsError,
  { path, isDir, name }: { path: string; isDir: boolean; name: string },
  omit: SearchPlan["omit"],
): void {
  // The bytes of such a name are lost, so that the system finds nothing.
  const isOddName = name.includes("\ufffd");
  if (VfsError.is(error, "not-found") && !isOddName) return;
  const reason = VfsError.is(error, "resource-limit") ? "too-large" : "unreadable";
  omit({ path, isDir, reason, message: isOddName ? "The name may not be UTF-8. Rename it." : error.message });
}

function isOutOfDescriptors(error: VfsError): boolean {
  return VfsError.is(error, "io") && /^E[MN]FILE$/.test(error.failure.code ?? "");
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(1, path.lastIndexOf("/")));
}

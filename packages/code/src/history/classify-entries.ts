import type { SkipReason } from "./file-state.ts";
import { filledFolder, isNeverSource } from "./filled-folders.ts";
import { isObjectsFolder, isPassingGitName, type TrackedFiles } from "./git-places.ts";
import { type FolderRules, isIgnored } from "./ignore-rules.ts";

/** The facts about a folder that decide which of its entries are covered. */
export interface FolderPlace {
  readonly rules: FolderRules | undefined;
  /** The top of the repository that it belongs to. */
  readonly worktree: string | undefined;
  /** True if git ignores it. */
  readonly isIgnored: boolean;
  /** The kind of the ignored folder of dependencies or build results that contains it. Only tracked files are covered there. */
  readonly filled: "dependencies" | "build" | undefined;
  /** True in the folder of a repository itself. */
  readonly isGit: boolean;
}

/** A decision on an entry of a folder. Entries that have none are not covered, and their folder is partial. */
export type EntryPlan =
  | { readonly kind: "folder"; readonly name: string; readonly place: FolderPlace }
  | { readonly kind: "file"; readonly name: string; readonly isSmallOnly?: true; readonly isGitFile?: true }
  | { readonly kind: "objects"; readonly name: string }
  | { readonly kind: "skipped"; readonly name: string; readonly reason: SkipReason };

export interface ClassifiedEntries {
  readonly plans: readonly EntryPlan[];
  readonly isPartial: boolean;
  /** True if the index of git decided. */
  readonly usesIndex: boolean;
}

/**
 * Decides which entries of a folder are covered: everything that git does not ignore or that its index lists; ignored files that are small and
 * outside of folders of dependencies and build results; and the folders of repositories, of which objects are kept apart.
 */
export function classifyEntries(
  folder: string,
  entries: readonly { readonly name: string; readonly isFolder: boolean }[],
  place: FolderPlace,
  index: TrackedFiles,
): ClassifiedEntries {
  const { worktree } = place;
  const plans: EntryPlan[] = [];
  let isPartial = false;
  let usesIndex = false;
  const isTracked = (path: string, isFolder: boolean): boolean => {
    if (worktree === undefined) return false;
    usesIndex = true;
    const tracked = index.in(worktree);
    return (isFolder ? tracked.folders : tracked.files).has(path.slice(worktree === "/" ? 1 : worktree.length + 1));
  };
  for (const { name, isFolder } of entries) {
    const path = `${folder === "/" ? "" : folder}/${name}`;
    if (place.isGit) {
      if (isPassingGitName(name)) continue;
      if (isFolder && isObjectsFolder(path)) plans.push({ kind: "objects", name });
      else plans.push(isFolder ? { kind: "folder", name, place } : { kind: "file", name });
      continue;
    }
    if (name === ".git") {
      if (place.filled === undefined) {
        const git: FolderPlace = { ...place, rules: undefined, isIgnored: false, isGit: true };
        plans.push(isFolder ? { kind: "folder", name, place: git } : { kind: "file", name, isGitFile: true });
      } else isPartial = true;
      continue;
    }
    const ignored =
      place.isIgnored || isIgnored(place.rules, path, isFolder) || (isFolder && worktree === undefined && isNeverSource(name));
    if (isFolder) {
      const filled = place.filled ?? (ignored ? filledFolder(name) : undefined);
      if (filled !== undefined && !isTracked(path, true)) plans.push({ kind: "skipped", name, reason: filled });
      else plans.push({ kind: "folder", name, place: ignored ? { ...place, isIgnored: true, filled } : place });
    } else if (!ignored || isTracked(path, false)) plans.push({ kind: "file", name });
    else if (place.filled === undefined) plans.push({ kind: "file", name, isSmallOnly: true });
    else isPartial = true;
  }
  return { plans, isPartial, usesIndex };
}

import { lstatSync, readdirSync, type Stats } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { classifyEntries, type EntryPlan, type FolderPlace } from "./classify-entries.ts";
import type { SkipReason } from "./file-state.ts";
import { type FileStamp, isUnsettled, stampOf } from "./file-stamp.ts";
import { findWorktree, gitFoldersOf, TrackedFiles } from "./git-places.ts";
import type { HistoryLimits } from "./history-limits.ts";
import { type FolderRules, foldersBetween, IgnoreRules } from "./ignore-rules.ts";
import { NAME_ENCODING, systemPath } from "./system-path.ts";

/** An entry that a scan has seen. */
export type SeenEntry =
  | { readonly kind: "file" | "link" | "other"; readonly stamp: FileStamp; readonly isTooLarge?: true }
  /** `isPartial`: not all of its entries are covered. */
  | { readonly kind: "folder"; readonly stamp: FileStamp; readonly isPartial: boolean }
  | { readonly kind: "skipped"; readonly reason: SkipReason };

/** The covered entries of a project. */
export interface SeenTree {
  readonly entries: Map<string, SeenEntry>;
  /** Folders with objects of git. */
  readonly objectFolders: readonly string[];
  /** Folders of git outside of the tree. */
  readonly externals: readonly string[];
}

interface KeptListing {
  readonly stamp: FileStamp;
  readonly place: FolderPlace;
  readonly trackedStamp: string | undefined;
  readonly plans: readonly EntryPlan[];
  readonly isPartial: boolean;
}

interface Pending {
  readonly path: string;
  readonly place: FolderPlace;
}

export interface ScanOptions {
  /** The top of the project first, then other folders in which the agent may work. */
  readonly roots: readonly string[];
  readonly limits: HistoryLimits;
  /** Folders that are never read: that of the history itself. */
  readonly excluded: readonly string[];
  readonly now: () => number;
}

/** Stats between two turns of the event loop. */
const STATS_AT_ONCE = 500;

/** Finds the covered entries of a project. The list of a folder is kept until the folder, the ignore rules or the index of git change. */
export class TreeScanner {
  readonly #options: ScanOptions;
  readonly #rules: IgnoreRules = new IgnoreRules();
  readonly #tracked: TrackedFiles = new TrackedFiles();
  readonly #listings = new Map<string, KeptListing>();

  constructor(options: ScanOptions) {
    this.#options = options;
  }

  /** @param known folders of git outside of the tree that an earlier scan has found */
  async scan(known: readonly string[] = []): Promise<SeenTree> {
    await this.#rules.load();
    const { roots } = this.#options;
    const entries = new Map<string, SeenEntry>();
    const objectFolders = new Set<string>();
    const externals = new Set(known);
    const pending: Pending[] = roots.map((path) => ({ path, place: ROOT_PLACE }));
    const ignored: Pending[] = [];
    for (const path of known) pending.push({ path, place: GIT_PLACE });
    for (const root of roots) {
      const above = findWorktree(root);
      if (above !== undefined && above !== root) for (const path of gitFoldersOf(`${above}/.git`)) this.#external(path, externals, pending);
    }
    let stats = 0;
    let ignoredCount = 0;
    for (let next = pending.shift() ?? ignored.shift(); next !== undefined; next = pending.shift() ?? ignored.shift()) {
      const { path, place } = next;
      if (entries.has(path) || this.#options.excluded.includes(path)) continue;
      const found = lstat(path);
      stats++;
      if (found === undefined || !found.isDirectory()) continue;
      const isFull =
        entries.size >= this.#options.limits.entries || (place.isIgnored && ignoredCount >= this.#options.limits.ignoredEntries);
      if (isFull) {
        entries.set(path, { kind: "skipped", reason: "too-many" });
        continue;
      }
      const { plans, isPartial } = this.#list(path, found, place);
      entries.set(path, { kind: "folder", stamp: stampOf(found), isPartial });
      for (const plan of plans) {
        const child = `${path === "/" ? "" : path}/${plan.name}`;
        if (plan.kind === "folder") {
          // The ignored folders come last, so that a bound leaves them out first.
          (plan.place.isIgnored ? ignored : pending).push({ path: child, place: plan.place });
        } else if (plan.kind === "skipped") entries.set(child, { kind: "skipped", reason: plan.reason });
        else if (plan.kind === "objects") objectFolders.add(child);
        else {
          const entry = this.#entry(child, plan);
          stats++;
          if (entry !== undefined) entries.set(child, entry);
          if (place.isIgnored) ignoredCount++;
          if (plan.isGitFile === true) for (const folder of gitFoldersOf(child)) this.#external(folder, externals, pending);
        }
        if (stats >= STATS_AT_ONCE) {
          stats = 0;
          await setImmediate();
        }
      }
    }
    return { entries, objectFolders: [...objectFolders], externals: [...externals] };
  }

  #external(path: string, externals: Set<string>, pending: Pending[]): void {
    if (externals.has(path)) return;
    externals.add(path);
    pending.push({ path, place: GIT_PLACE });
  }

  #entry(path: string, plan: EntryPlan & { readonly kind: "file" }): SeenEntry | undefined {
    const found = lstat(path);
    if (found === undefined || found.isDirectory()) return undefined;
    const stamp = stampOf(found);
    if (found.isSymbolicLink()) return { kind: "link", stamp };
    if (!found.isFile()) return { kind: "other", stamp };
    const isTooLarge = plan.isSmallOnly === true && found.size >= this.#options.limits.ignoredFileBytes;
    return isTooLarge ? { kind: "file", stamp, isTooLarge } : { kind: "file", stamp };
  }

  #list(path: string, found: Stats, given: FolderPlace): { readonly plans: readonly EntryPlan[]; readonly isPartial: boolean } {
    const stamp = stampOf(found);
    const place = this.#placeWithin(path, given);
    const trackedStamp = place.worktree === undefined ? undefined : this.#tracked.in(place.worktree).stamp;
    const kept = this.#listings.get(path);
    const isSame =
      kept !== undefined &&
      kept.stamp.ctimeMs === stamp.ctimeMs &&
      kept.stamp.mtimeMs === stamp.mtimeMs &&
      kept.stamp.ino === stamp.ino &&
      samePlace(kept.place, place) &&
      (kept.trackedStamp === undefined || kept.trackedStamp === trackedStamp);
    if (isSame) return kept;
    let listed: ReturnType<typeof list>;
    try {
      listed = list(path);
    } catch {
      return { plans: [], isPartial: true };
    }
    const now = this.#options.now();
    const { plans, isPartial, usesIndex } = classifyEntries(path, listed, place, this.#tracked);
    const listing: KeptListing = { stamp, place, plans, isPartial, trackedStamp: usesIndex ? trackedStamp : undefined };
    if (isUnsettled(stamp, now)) this.#listings.delete(path);
    else this.#listings.set(path, listing);
    return listing;
  }

  /** Returns the place of the entries of a folder: with its own rules, and in its own repository if it has one. */
  #placeWithin(path: string, place: FolderPlace): FolderPlace {
    if (place.isGit || place.isIgnored) return place;
    let { worktree, rules } = place;
    const git = lstat(`${path}/.git`) === undefined ? undefined : gitFoldersOf(`${path}/.git`);
    if (git !== undefined && git.length > 0) {
      worktree = path;
      rules = this.#rules.within(path, `${git.at(-1)}/info/exclude`, undefined);
    } else if (this.#options.roots.includes(path)) {
      worktree = findWorktree(path);
      rules = this.#rulesAbove(worktree, path);
    }
    rules = this.#rules.within(path, `${path}/.gitignore`, rules);
    return { ...place, worktree, rules };
  }

  /** Returns the rules that folders between the top of a repository and a folder have for it. */
  #rulesAbove(worktree: string | undefined, path: string): FolderRules | undefined {
    if (worktree === undefined) return undefined;
    const git = gitFoldersOf(`${worktree}/.git`).at(-1);
    let rules = this.#rules.within(worktree, `${git}/info/exclude`, undefined);
    for (const folder of foldersBetween(worktree, path)) rules = this.#rules.within(folder, `${folder}/.gitignore`, rules);
    return rules;
  }
}

const ROOT_PLACE: FolderPlace = { rules: undefined, worktree: undefined, isIgnored: false, filled: undefined, isGit: false };
const GIT_PLACE: FolderPlace = { rules: undefined, worktree: undefined, isIgnored: false, filled: undefined, isGit: true };

function samePlace(a: FolderPlace, b: FolderPlace): boolean {
  return a.rules === b.rules && a.worktree === b.worktree && a.isIgnored === b.isIgnored && a.filled === b.filled && a.isGit === b.isGit;
}

function list(path: string): readonly { readonly name: string; readonly isFolder: boolean }[] {
  return readdirSync(systemPath(path), { withFileTypes: true, encoding: NAME_ENCODING }).map((entry) => ({
    name: entry.name,
    isFolder: entry.isDirectory(),
  }));
}

function lstat(path: string): Stats | undefined {
  try {
    return lstatSync(systemPath(path), { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

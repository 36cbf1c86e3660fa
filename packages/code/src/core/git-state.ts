import { createHash } from "node:crypto";
import { lstatSync, readFileSync, readlinkSync, type Stats } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { isPassedOver, readGitIndex } from "../history/git-index.ts";

/** The state of a repository, read without git: its settings could make git run programs of the repository. */
export interface GitState {
  /** Absent: a commit is checked out and no branch. */
  readonly branch?: string;
  /** The beginning of the commit that is checked out. Absent: there is none yet. */
  readonly commit?: string;
  /** A merge, rebase or the like that is not finished. */
  readonly underWay?: string;
  /** Tracked files that are not as in the index. Absent: there are too many to read, or the index is not understood. */
  readonly changed?: { readonly modified: number; readonly deleted: number };
}

const UNDER_WAY: readonly (readonly [string, string])[] = [
  ["MERGE_HEAD", "merge"],
  ["rebase-merge", "rebase"],
  ["rebase-apply", "rebase"],
  ["CHERRY_PICK_HEAD", "cherry-pick"],
  ["REVERT_HEAD", "revert"],
  ["BISECT_LOG", "bisect"],
];
const MAX_ENTRIES = 50_000;
const MAX_HASHED_FILES = 200;
const MAX_HASHED_BYTES = 1024 * 1024;

/** Returns the state of the repository whose root is a folder. `undefined`: it is none. */
export function readGitState(root: string): GitState | undefined {
  const read = readHead(root);
  if (read === undefined) return undefined;
  const { folder, head, ref } = read;
  const common = resolve(folder, textOf(join(folder, "commondir"))?.trim() ?? ".");
  const commit = ref === undefined ? head : commitOf(ref, common);
  const underWay = UNDER_WAY.find(([name]) => statOf(join(folder, name)) !== undefined)?.[1];
  const changed = changesOf(root, join(folder, "index"), /^\s*objectformat\s*=\s*sha256\s*$/im.test(textOf(join(common, "config")) ?? ""));
  return {
    ...(ref !== undefined && { branch: branchOf(ref) }),
    ...(commit !== undefined && /^[0-9a-f]{7,}$/.test(commit) && { commit: commit.slice(0, 10) }),
    ...(underWay !== undefined && { underWay }),
    ...(changed && { changed }),
  };
}

/**
 * Returns the branch of the repository that a folder is in, or the beginning of the commit if no branch is checked out. `undefined`: the folder is in
 * no repository.
 */
export function readBranch(folder: string): string | undefined {
  for (let at = folder; ; at = dirname(at)) {
    const read = readHead(at);
    if (read !== undefined) return read.ref === undefined ? read.head.slice(0, 10) : branchOf(read.ref);
    if (dirname(at) === at) return undefined;
  }
}

interface GitHead {
  /** The folder of git of this worktree. */
  readonly folder: string;
  readonly head: string;
  /** Absent: a commit is checked out and no branch. */
  readonly ref: string | undefined;
}

function readHead(root: string): GitHead | undefined {
  const link = textOf(join(root, ".git"));
  const folder = link === undefined ? join(root, ".git") : resolve(root, link.replace(/^gitdir:\s*/, "").trim());
  const head = textOf(join(folder, "HEAD"))?.trim();
  return head === undefined ? undefined : { folder, head, ref: /^ref:\s*(\S+)$/.exec(head)?.[1] };
}

function branchOf(ref: string): string {
  return ref.replace(/^refs\/heads\//, "");
}

/** Describes the state in one line. */
export function describeGitState({ branch, commit, underWay, changed }: GitState): string {
  const at =
    branch === undefined
      ? `no branch, commit ${commit ?? "unknown"} checked out`
      : `branch ${branch}${commit === undefined ? ", without a commit" : ""}`;
  const files =
    changed === undefined
      ? "changes not counted"
      : changed.modified + changed.deleted === 0
        ? "no tracked file changed"
        : [
            `${changed.modified} tracked ${changed.modified === 1 ? "file" : "files"} modified`,
            ...(changed.deleted > 0 ? [`${changed.deleted} deleted`] : []),
          ].join(", ");
  return [at, ...(underWay === undefined ? [] : [`a ${underWay} is under way`]), files].join("; ");
}

function commitOf(ref: string, common: string): string | undefined {
  const packed = (): string | undefined =>
    textOf(join(common, "packed-refs"))
      ?.split("\n")
      .find((line) => line.endsWith(` ${ref}`))
      ?.split(" ")[0];
  return textOf(join(common, ref))?.trim() ?? packed();
}

function changesOf(root: string, path: string, isSha256: boolean): GitState["changed"] {
  try {
    const entries = readGitIndex(readFileSync(path));
    if (entries === undefined || entries.length > MAX_ENTRIES) return undefined;
    let [modified, deleted, hashed] = [0, 0, 0];
    for (const entry of entries) {
      if (isPassedOver(entry)) continue;
      const file = join(root, Buffer.from(entry.path, "latin1").toString("utf8"));
      const stats = statOf(file);
      if (stats === undefined) deleted++;
      else if (stats.size % 2 ** 32 !== entry.size) modified++;
      else if (Math.floor(stats.mtimeMs / 1000) !== entry.seconds) {
        // The same size at another time: the content decides.
        if (++hashed > MAX_HASHED_FILES) return undefined;
        if (stats.size > MAX_HASHED_BYTES || idOf(file, stats, isSha256) !== entry.id) modified++;
      }
    }
    return { modified, deleted };
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    const { code } = error as NodeJS.ErrnoException;
    // Nothing was added yet.
    return code === "ENOENT" ? { modified: 0, deleted: 0 } : undefined;
  }
}

function idOf(path: string, stats: Stats, isSha256: boolean): string {
  const content = stats.isSymbolicLink() ? Buffer.from(readlinkSync(path)) : readFileSync(path);
  return createHash(isSha256 ? "sha256" : "sha1")
    .update(`blob ${content.byteLength}\0`)
    .update(content)
    .digest("hex");
}

function statOf(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false });
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

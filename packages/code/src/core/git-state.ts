import { createHash } from "node:crypto";
import { lstatSync, readFileSync, readlinkSync, type Stats } from "node:fs";
import { join, resolve } from "node:path";

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
  const link = textOf(join(root, ".git"));
  const folder = link === undefined ? join(root, ".git") : resolve(root, link.replace(/^gitdir:\s*/, "").trim());
  const head = textOf(join(folder, "HEAD"))?.trim();
  if (head === undefined) return undefined;
  const common = resolve(folder, textOf(join(folder, "commondir"))?.trim() ?? ".");
  const ref = /^ref:\s*(\S+)$/.exec(head)?.[1];
  const commit = ref === undefined ? head : commitOf(ref, common);
  const underWay = UNDER_WAY.find(([name]) => statOf(join(folder, name)) !== undefined)?.[1];
  const changed = changesOf(root, join(folder, "index"), /^\s*objectformat\s*=\s*sha256\s*$/im.test(textOf(join(common, "config")) ?? ""));
  return {
    ...(ref !== undefined && { branch: ref.replace(/^refs\/heads\//, "") }),
    ...(commit !== undefined && /^[0-9a-f]{7,}$/.test(commit) && { commit: commit.slice(0, 10) }),
    ...(underWay !== undefined && { underWay }),
    ...(changed && { changed }),
  };
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
    const bytes = readFileSync(path);
    const entries = readIndex(bytes, isSha256 ? 32 : 20);
    if (entries === undefined) return undefined;
    let [modified, deleted, hashed] = [0, 0, 0];
    for (const entry of entries) {
      const stats = statOf(join(root, entry.path));
      if (stats === undefined) deleted++;
      else if (stats.size % 2 ** 32 !== entry.size) modified++;
      else if (Math.floor(stats.mtimeMs / 1000) !== entry.seconds) {
        // The same size at another time: the content decides.
        if (++hashed > MAX_HASHED_FILES) return undefined;
        if (stats.size > MAX_HASHED_BYTES || idOf(join(root, entry.path), stats, isSha256) !== entry.id) modified++;
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

interface IndexEntry {
  readonly path: string;
  readonly size: number;
  /** The time of the last modification. */
  readonly seconds: number;
  readonly id: string;
}

/** @returns `undefined` if the format is not understood, as that of an index in two files */
function readIndex(bytes: Buffer, idLength: number): readonly IndexEntry[] | undefined {
  const version = bytes.readUInt32BE(4);
  const count = bytes.readUInt32BE(8);
  if (bytes.toString("latin1", 0, 4) !== "DIRC" || version < 2 || version > 3 || count > MAX_ENTRIES) return undefined;
  const entries: IndexEntry[] = [];
  let at = 12;
  for (let index = 0; index < count; index++) {
    const flags = bytes.readUInt16BE(at + 40 + idLength);
    const isExtended = (flags & 0x4000) !== 0;
    const begin = at + 40 + idLength + (isExtended ? 4 : 2);
    const end = bytes.indexOf(0, begin);
    if (end < 0) return undefined;
    const isSubmodule = (bytes.readUInt32BE(at + 24) & 0xf000) === 0xe000;
    // Files that git does not look at either: assumed unchanged, or not checked out.
    const isSkipped = (flags & 0x8000) !== 0 || (isExtended && (bytes.readUInt16BE(at + 42 + idLength) & 0x4000) !== 0);
    if (!isSubmodule && !isSkipped)
      entries.push({
        path: bytes.toString("utf8", begin, end),
        size: bytes.readUInt32BE(at + 36),
        seconds: bytes.readUInt32BE(at + 8),
        id: bytes.toString("hex", at + 40, at + 40 + idLength),
      });
    at += (end - at + 8) & ~7;
  }
  for (let extension = at; extension + 8 <= bytes.length - idLength; extension += 8 + bytes.readUInt32BE(extension + 4))
    if (bytes.toString("latin1", extension, extension + 4) === "link") return undefined;
  return entries;
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

import { createHash } from "node:crypto";
import { type Dirent, lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join, resolve } from "node:path";
import { digestOfFile, statText } from "./file-states.ts";

/** Beyond this many files a tree is not looked through, and nothing that could lead anywhere in it is trusted. */
export const MAX_TREE_FILES = 200_000;
/** Files up to this size are known by their content, larger ones by size and times. */
const MAX_CONTENT_BYTES = 256 * 1024;
/** The number of files that are known by their content, in the order of their paths. Others are known by size and times. */
const MAX_CONTENT_FILES = 20_000;
/** Folders of what tools install and build: many files, known by size and times. */
const BY_TIMES: ReadonlySet<string> = new Set(
  "node_modules .venv venv .tox target vendor dist build .gradle .cache .next .nuxt".split(" "),
);
/** Files of the folder of git that can make git run programs. */
const GIT_FILES: readonly string[] = ["config", "config.worktree", "info/attributes"];

/**
 * Returns the digest of all that is in a project: the commit that is checked out, the settings and hooks of git, and each file, folder and link,
 * also those that git ignores. `undefined` if there are too many files.
 */
export function treeDigest(project: string, maxFiles: number = MAX_TREE_FILES): string | undefined {
  const hash = createHash("sha256");
  let left = maxFiles;
  let toRead = MAX_CONTENT_FILES;
  const walk = (folder: string, shown: string, byTimes: boolean): void => {
    for (const entry of entriesOf(folder)) {
      if (--left < 0) return;
      const path = join(folder, entry.name);
      const name = `${shown}${entry.name}`;
      if (entry.name === ".git") {
        hash.update(`git ${JSON.stringify([name, gitState(path)])}\n`);
      } else if (entry.isDirectory()) {
        hash.update(`folder ${JSON.stringify(name)}\n`);
        walk(path, `${name}/`, byTimes || BY_TIMES.has(entry.name));
      } else hash.update(`${JSON.stringify([name, stateOf(path, entry, byTimes || --toRead < 0)])}\n`);
    }
  };
  walk(project, "", false);
  return left < 0 ? undefined : hash.digest("hex");
}

function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  } catch {
    return [];
  }
}

function stateOf(path: string, entry: Dirent, byTimes: boolean): string {
  try {
    if (entry.isSymbolicLink()) return `link ${readlinkSync(path)}`;
    const stats = lstatSync(path);
    if (!entry.isFile()) return `special ${stats.mode}`;
    return byTimes || stats.size > MAX_CONTENT_BYTES ? statText(stats) : `${stats.mode} ${digestOfFile(path, stats)}`;
  } catch {
    return "unreadable";
  }
}

/** No program is run for it: in a project that is not trusted, the settings of git could name any. */
function gitState(path: string): readonly string[] {
  const link = textOf(path);
  const folder = link === undefined ? path : resolve(path, "..", link.replace(/^gitdir:\s*/, "").trim());
  const common = resolve(folder, textOf(join(folder, "commondir"))?.trim() ?? ".");
  const files = [...new Set([folder, common])].flatMap((one) => GIT_FILES.map((name) => textOf(join(one, name)) ?? ""));
  return [link ?? "", headOf(folder, common), ...files, ...hooksIn(join(common, "hooks"))];
}

function headOf(folder: string, common: string): string {
  const head = textOf(join(folder, "HEAD"))?.trim() ?? "";
  const ref = /^ref:\s*(\S+)$/.exec(head)?.[1];
  if (ref === undefined) return head;
  const loose = textOf(join(common, ref))?.trim();
  const packed = loose === undefined ? textOf(join(common, "packed-refs"))?.split("\n") : undefined;
  return `${head} ${loose ?? packed?.find((line) => line.endsWith(` ${ref}`)) ?? ""}`;
}

function hooksIn(folder: string): readonly string[] {
  return entriesOf(folder).map((entry) => `${entry.name} ${stateOf(join(folder, entry.name), entry, false)}`);
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { copyFile, lstat, mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { INSTRUCTION_NAMES } from "../instructions/instruction-places.ts";
import type { Git } from "./run-git.ts";

const MAX_FILES = 500;
const MAX_BYTES = 1024 * 1024;
/** Folders at the root that hold files for the agent. */
const FOLDERS: readonly string[] = [".claude", ".keelson", ".agents"];

export interface CopiedFile {
  /** Absolute; in the worktree. */
  readonly path: string;
  /** SHA-256 in hex. */
  readonly digest: string;
}

/**
 * Copies files that steer the agent and that git does not track, as settings.local.json: without them a rule that denies would be lost. They are
 * trusted by their content, as in the folder that they come from.
 */
export async function copyAgentFiles({
  git,
  from,
  to,
  prefix,
}: {
  readonly git: Git;
  readonly from: string;
  readonly to: string;
  /** The folder of the session below the root; its instructions are copied, and those of the folders above it. */
  readonly prefix: string;
}): Promise<{ readonly copied: readonly CopiedFile[]; readonly notices: readonly string[] }> {
  const parts = prefix.split("/").filter((part) => part !== "");
  const folders = ["", ...parts.map((_part, index) => `${parts.slice(0, index + 1).join("/")}/`)];
  const names = folders.flatMap((folder) => INSTRUCTION_NAMES.map((name) => `${folder}${name}`));
  const patterns = [...FOLDERS, ".mcp.json", ...names].map((name) => `:(top,literal)${name}`);
  const { code, stdout, stderr } = await git.run(from, "ls-files", "-z", "--others", "--", ...patterns);
  if (code !== 0) return { copied: [], notices: [`files for the agent that git does not track were not copied: ${stderr.trim()}`] };
  // An entry that ends with a slash is a repository of its own.
  const paths = stdout.split("\0").filter((path) => path !== "" && !path.endsWith("/"));
  const copied: CopiedFile[] = [];
  const left: string[] = paths.slice(MAX_FILES);
  const shown: string[] = [];
  for (const path of paths.slice(0, MAX_FILES)) {
    const stats = await lstat(join(from, path)).catch(() => undefined);
    if (stats === undefined) continue;
    const target = stats.isFile() && stats.size <= MAX_BYTES ? await copyInto(from, to, path) : undefined;
    if (target === undefined) left.push(path);
    else {
      copied.push({ path: target, digest: digestOf(await readFile(target)) });
      shown.push(path);
    }
  }
  return {
    copied,
    notices: [
      ...(shown.length === 0
        ? []
        : [`copied to the worktree, because git does not track ${shown.length === 1 ? "it" : "them"}: ${listed(shown)}`]),
      ...(left.length === 0 ? [] : [`not copied to the worktree: ${listed(left)}`]),
    ],
  };
}

/** Copies a file to the same place in another folder. @returns `undefined` if something is there, or a link would lead out of the folder */
async function copyInto(from: string, to: string, path: string): Promise<string | undefined> {
  try {
    let folder = to;
    for (const part of path.split("/").slice(0, -1)) {
      folder = join(folder, part);
      const found = await lstat(folder).catch(() => undefined);
      if (found === undefined) await mkdir(folder);
      else if (!found.isDirectory()) return undefined;
    }
    const target = join(to, path);
    await copyFile(join(from, path), target, constants.COPYFILE_EXCL);
    return target;
  } catch {
    return undefined;
  }
}

/** Deletes copies that are still as they were made. */
export async function removeCopies(copied: readonly CopiedFile[]): Promise<void> {
  for (const { path, digest } of copied) {
    const content = await readFile(path).catch(() => undefined);
    if (content !== undefined && digestOf(content) === digest) await rm(path);
  }
}

function listed(paths: readonly string[]): string {
  const more = paths.length - 5;
  return `${paths.slice(0, 5).join(", ")}${more > 0 ? `, and ${more} more` : ""}`;
}

function digestOf(content: Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

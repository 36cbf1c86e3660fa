import { lstatSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { rmdir, unlink } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { VfsError } from "@keelson/protocol";
import { openChild, openDirectory } from "../files/anchored-directory.ts";
import { type DiskView, OWN_VIEW } from "../files/disk-view.ts";

/** Something that stands at a path for as long as a command runs, so that the command can't put anything there. */
export interface Placeholder {
  readonly path: string;
  /** @returns whether nobody needs it any more, and it is gone */
  remove(): Promise<boolean>;
}

const MARK = /^\.keelson-sandbox-(\d+)-\d+$/;
let next = 1;

/**
 * Puts an empty folder where nothing is. Several commands may need the same one: each leaves a mark in it, and whoever takes the last one
 * away removes it. Marks of processes that are gone are taken away by the next. Everything is reached through folders that are held open:
 * somebody who swaps one on the way for a link leads nothing elsewhere. @returns `undefined` when something else is there
 */
export async function placeFolder(path: string, disk: DiskView = OWN_VIEW): Promise<Placeholder | undefined> {
  const mark = `.keelson-sandbox-${process.pid}-${next++}`;
  const name = basename(path);
  await using parent = await openDirectory(dirname(path), dirname(path), disk);
  if (look(parent.at(name)) === "other") return undefined;
  mkdirUnlessThere(parent.at(name));
  await using folder = await openChild(parent, name, dirname(path));
  writeFileSync(folder.at(mark), "", { flag: "wx", mode: 0o600 });
  for (const left of readdirSync(folder.self)) if (!isOfLiving(left)) rmSync(folder.at(left), { force: true });
  return { path, remove: () => removeFolder(path, mark, disk) };
}

/** @returns whether nobody needs it any more, and it is gone */
async function removeFolder(path: string, mark: string, disk: DiskView): Promise<boolean> {
  try {
    await using parent = await openDirectory(dirname(path), dirname(path), disk);
    {
      await using folder = await openChild(parent, basename(path), dirname(path));
      await unlink(folder.at(mark)).catch(ignoreGone);
    }
    await rmdir(parent.at(basename(path)));
    return true;
  } catch (error) {
    // Others need it, or it was taken away, or something else is there by now, which is not ours.
    if (codeOf(error) === "ENOTEMPTY" || codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR") return codeOf(error) !== "ENOTEMPTY";
    if (VfsError.is(error, "not-found") || VfsError.is(error, "not-directory") || VfsError.is(error, "path-traversal")) return true;
    throw error;
  }
}

/** True if a folder with these names is a placeholder, of a running or a killed command. */
export function isMarked(names: readonly string[]): boolean {
  return names.length > 0 && names.every((name) => MARK.test(name));
}

/** Whether a placeholder stands there, of a command that runs or of one that was killed. */
export function isPlaceholder(path: string, disk: DiskView = OWN_VIEW): boolean {
  return look(disk.locate(path)) === "placeholder";
}

function look(path: string): "missing" | "placeholder" | "other" {
  try {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found === undefined) return "missing";
    if (!found.isDirectory()) return "other";
    return isMarked(readdirSync(path)) ? "placeholder" : "other";
  } catch (error) {
    if (codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR") return "missing";
    // A placeholder belongs to this user, who can read it.
    if (codeOf(error) === "EACCES") return "other";
    throw error;
  }
}

function mkdirUnlessThere(path: string): void {
  try {
    mkdirSync(path);
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
  }
}

function isOfLiving(mark: string): boolean {
  const pid = MARK.exec(mark)?.[1];
  return pid === undefined || isAlive(Number(pid));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === "EPERM";
  }
}

function ignoreGone(error: unknown): void {
  if (codeOf(error) !== "ENOENT") throw error;
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}

import { constants, lstatSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { readFile, rm, rmdir, unlink, writeFile } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { VfsError } from "@keelson/protocol";
import { openChild, openDirectory } from "../files/anchored-directory.ts";
import { type DiskView, OWN_VIEW } from "../files/disk-view.ts";

/** Something that stands at a path for as long as a command runs, so that the command can't put anything there. */
export interface Placeholder {
  readonly path: string;
  /** The folder that tells who needs it, where that is another. */
  readonly holders?: string;
  /** @returns whether nobody needs it any more, and it is gone */
  remove(): Promise<boolean>;
}

const MARK = /^\.keelson-sandbox-(\d+)-\d+$/;
const HOLDERS = ".keelson-sandbox";
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

/** Puts a file with this text where nothing is; a folder beside it holds the marks. */
export async function placeFile(path: string, text: string, disk: DiskView = OWN_VIEW): Promise<Placeholder | undefined> {
  const holders = marksBeside(path);
  if (look(disk.locate(path)) !== "missing" && look(disk.locate(holders)) !== "placeholder") return undefined;
  const folder = await placeFolder(holders, disk);
  if (folder === undefined) return undefined;
  const name = basename(path);
  {
    await using parent = await openDirectory(dirname(path), dirname(path), disk);
    await writeFile(parent.at(name), text, { flag: "wx" }).catch((error: unknown) => {
      if (codeOf(error) !== "EEXIST") throw error;
    });
  }
  return {
    path,
    holders,
    async remove() {
      if (!(await folder.remove())) return false;
      try {
        await using parent = await openDirectory(dirname(path), dirname(path), disk);
        const flag = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
        // It is only ours to remove while it says what we wrote.
        if ((await readFile(parent.at(name), { encoding: "utf8", flag }).catch(() => undefined)) === text)
          await rm(parent.at(name), { force: true });
      } catch (error) {
        if (!VfsError.is(error, "not-found") && !VfsError.is(error, "path-traversal")) throw error;
      }
      return true;
    },
  };
}

/** Whether what a folder holds makes it a placeholder, of a command that runs or was killed, or the marks beside one that is a file. */
export function isMarked(names: readonly string[]): boolean {
  return names.length > 0 && names.every((name) => MARK.test(name));
}

/** The folder with the marks of a placeholder that is a file. */
export function marksBeside(path: string): string {
  return `${path}${HOLDERS}`;
}

/** Whether a placeholder stands there, of a command that runs or of one that was killed. */
export function isPlaceholder(path: string, disk: DiskView = OWN_VIEW): boolean {
  return [path, marksBeside(path)].some((at) => look(disk.locate(at)) === "placeholder");
}

function look(path: string): "missing" | "placeholder" | "other" {
  try {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found === undefined) return "missing";
    if (!found.isDirectory()) return "other";
    return isMarked(readdirSync(path)) ? "placeholder" : "other";
  } catch (error) {
    if (codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR") return "missing";
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

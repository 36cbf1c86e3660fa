import { lstatSync, mkdirSync, readdirSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { readFile, rm, rmdir, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";

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
 * away removes it. Marks of processes that are gone are taken away by the next. @returns `undefined` when something else is there
 */
export async function placeFolder(path: string): Promise<Placeholder | undefined> {
  const mark = join(path, `.keelson-sandbox-${process.pid}-${next++}`);
  for (;;) {
    if (look(path) === "other") return undefined;
    try {
      // Without a pause between them: an empty folder is taken for somebody's own.
      mkdirUnlessThere(path);
      writeFileSync(mark, "", { flag: "wx", mode: 0o600 });
    } catch (error) {
      // Somebody else removed the folder meanwhile.
      if (codeOf(error) === "ENOENT" && look(join(path, "..")) !== "missing") continue;
      throw error;
    }
    return {
      path,
      async remove() {
        await unlink(mark).catch(ignoreGone);
        return rmdir(path).then(
          () => true,
          (error: unknown) => {
            if (codeOf(error) !== "ENOTEMPTY") ignoreGone(error);
            return false;
          },
        );
      },
    };
  }
}

/** Puts a file with this text where nothing is; a folder beside it holds the marks. */
export async function placeFile(path: string, text: string): Promise<Placeholder | undefined> {
  const holders = marksBeside(path);
  if (look(path) !== "missing" && look(holders) !== "placeholder") return undefined;
  const folder = await placeFolder(holders);
  if (folder === undefined) return undefined;
  await writeFile(path, text, { flag: "wx" }).catch((error: unknown) => {
    if (codeOf(error) !== "EEXIST") throw error;
  });
  return {
    path,
    holders,
    async remove() {
      if (!(await folder.remove())) return false;
      // It is only ours to remove while it says what we wrote.
      if ((await readFile(path, "utf8").catch(() => undefined)) === text) await rm(path, { force: true });
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

/** Whether a placeholder stands there, of whichever command. */
export function isPlaceholder(path: string): boolean {
  return look(path) === "placeholder" || look(marksBeside(path)) === "placeholder";
}

function look(path: string): "missing" | "placeholder" | "other" {
  try {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found === undefined) return "missing";
    if (!found.isDirectory()) return "other";
    const names = readdirSync(path);
    if (!isMarked(names)) return "other";
    const left = names.filter((name) => !isAlive(Number(MARK.exec(name)?.[1])));
    for (const name of left) rmSync(join(path, name), { force: true });
    if (left.length < names.length) return "placeholder";
    rmdirSync(path);
    return "missing";
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

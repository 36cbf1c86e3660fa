import { mkdir, readdir, readFile, rm, rmdir, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Something that stands at a path for as long as a command runs, so that the command can't put anything there. */
export interface Placeholder {
  readonly path: string;
  remove(): Promise<void>;
}

const MARK = /^\.keelson-sandbox-(\d+)-\d+$/;
let next = 1;

/**
 * Puts an empty folder where nothing is. Several commands may hold the same one: each leaves a mark in it, and whoever takes the last one
 * away removes it. Marks of processes that are gone are taken away by the next. @returns `undefined` when something else is there
 */
export async function placeFolder(path: string): Promise<Placeholder | undefined> {
  const mark = join(path, `.keelson-sandbox-${process.pid}-${next++}`);
  for (;;) {
    try {
      await mkdir(path);
    } catch (error) {
      if (codeOf(error) !== "EEXIST") throw error;
      if (!(await isPlaceholder(path))) return undefined;
    }
    try {
      await writeFile(mark, "", { flag: "wx", mode: 0o600 });
    } catch (error) {
      // Somebody else removed the folder between our two steps.
      if (codeOf(error) === "ENOENT") continue;
      throw error;
    }
    return {
      path,
      async remove() {
        await unlink(mark).catch(ignoreGone);
        await rmdir(path).catch((error: unknown) => {
          if (codeOf(error) !== "ENOTEMPTY") ignoreGone(error);
        });
      },
    };
  }
}

/** Puts a file with this text where nothing is. It stays while other commands of this process hold it. */
const files = new Map<string, number>();
export async function placeFile(path: string, text: string): Promise<Placeholder | undefined> {
  try {
    await writeFile(path, text, { flag: "wx" });
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
    if (!files.has(path)) return undefined;
  }
  files.set(path, (files.get(path) ?? 0) + 1);
  return {
    path,
    async remove() {
      const held = (files.get(path) ?? 1) - 1;
      if (held > 0) return void files.set(path, held);
      files.delete(path);
      // It is only ours to remove while it says what we wrote.
      if ((await readFile(path, "utf8").catch(() => undefined)) === text) await rm(path, { force: true });
    },
  };
}

async function isPlaceholder(path: string): Promise<boolean> {
  const names = await readdir(path).catch((error: unknown) => {
    if (codeOf(error) === "ENOENT") return [];
    if (codeOf(error) === "ENOTDIR") return ["a file"];
    throw error;
  });
  if (names.length === 0 || !names.every((name) => MARK.test(name))) return false;
  for (const name of names) if (!isAlive(Number(MARK.exec(name)?.[1]))) await unlink(join(path, name)).catch(ignoreGone);
  return true;
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

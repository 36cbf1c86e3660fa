import { cp, mkdtemp, readdir, readFile, realpath } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

/** The project that is to be repaired, as it is shipped. */
export const BROKEN_PROJECT: string = fileURLToPath(new URL("../../../../examples/broken-project", import.meta.url));

/** Copies a project into a new temporary folder. @returns the folder of the copy */
export async function copyProject(from: string, name: string): Promise<string> {
  const folder = join(await realpath(await mkdtemp(join(tmpdir(), "keelson-demo-"))), name);
  await cp(from, folder, { recursive: true });
  return folder;
}

export interface FileChange {
  /** Relative to the project. */
  readonly path: string;
  /** Empty for a file that is new, or that is gone. */
  readonly before: string;
  readonly after: string;
}

/** The files that differ between two versions of a project, by path. */
export async function changedFiles(original: string, copy: string): Promise<readonly FileChange[]> {
  const [before, after] = await Promise.all([readFiles(original), readFiles(copy)]);
  return [...new Set([...before.keys(), ...after.keys()])]
    .sort()
    .map((path) => ({ path, before: before.get(path) ?? "", after: after.get(path) ?? "" }))
    .filter((change) => change.before !== change.after);
}

async function readFiles(folder: string): Promise<ReadonlyMap<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return new Map(await Promise.all(files.map(async (file) => [relative(folder, file), await readFile(file, "utf8")] as const)));
}

import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { isAlive, processNamespace } from "../../platform/process-namespace.ts";

const NAME = /^keelson-credentials-(\d+)-(\d+)-/;
let isSwept = false;

/** Whether a folder was made here, for the files of a command. */
export function isCredentialFolder(path: string): boolean {
  return dirname(path) === tmpdir() && NAME.test(basename(path));
}

/** A folder for files with credentials, which this user alone can read. The first that a process makes takes those away that killed processes left. */
export async function makeCredentialFolder(): Promise<string> {
  const namespace = await processNamespace();
  if (!isSwept) {
    isSwept = true;
    await removeLeft(namespace);
  }
  return mkdtemp(join(tmpdir(), `keelson-credentials-${namespace}-${process.pid}-`));
}

async function removeLeft(namespace: string): Promise<void> {
  for (const entry of await readdir(tmpdir())) {
    const [, of, pid] = NAME.exec(entry) ?? [];
    // Process ids of another namespace say nothing here: a container may share the folder for temporary files.
    if (of !== namespace || isAlive(Number(pid))) continue;
    await rm(join(tmpdir(), entry), { recursive: true, force: true }).catch((error: NodeJS.ErrnoException) => {
      // Another user's.
      if (error.code !== "EACCES" && error.code !== "EPERM") throw error;
    });
  }
}

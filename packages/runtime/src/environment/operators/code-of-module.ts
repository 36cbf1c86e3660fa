import { stat } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { PRIVATE_FOLDERS } from "../sandbox/bubblewrap-arguments.ts";
import { realPathOf } from "../sandbox/real-path.ts";

/**
 * All that a module may import: the uppermost folder above it that has a `package.json`, where packages of one workspace find what they share;
 * without any, the module alone. A home folder and folders for whatever comes along are nobody's package.
 */
export async function codeOfModule(module: string): Promise<string> {
  const real = await realPathOf(module);
  const ends = [...PRIVATE_FOLDERS, await realPathOf(homedir()), "/"];
  let found = real;
  for (let folder = dirname(real); !ends.includes(folder); folder = dirname(folder))
    if (await isFile(join(folder, "package.json"))) found = folder;
  return found;
}

async function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (stats) => stats.isFile(),
    () => false,
  );
}

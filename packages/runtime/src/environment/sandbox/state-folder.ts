import { lstatSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { makeFolder } from "../../platform/make-folder.ts";

let folder: string | undefined | null = null;

/**
 * The folder in which sandboxes keep notes between commands and processes: in the home folder of Keelson, which commands never see, or in the folder
 * for temporary files; `undefined` if neither can be used.
 */
export function stateFolder(): string | undefined {
  if (folder !== null) return folder;
  const home = process.env["KEELSON_HOME"];
  const own = home === undefined || home === "" ? join(homedir(), ".keelson") : resolve(home);
  return (folder = [join(own, "sandbox"), join(tmpdir(), `keelson-sandbox-${process.getuid?.() ?? ""}`)].find(isUsable));
}

function isUsable(path: string): boolean {
  try {
    makeFolder(path, 0o700);
    const stats = lstatSync(path);
    return stats.isDirectory() && stats.uid === (process.getuid?.() ?? stats.uid) && (stats.mode & 0o022) === 0;
  } catch {
    return false;
  }
}

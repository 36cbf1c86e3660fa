import { homedir } from "node:os";
import { join, resolve } from "node:path";

/** A path of a policy as an absolute one: `~/x` is below the home folder, others are relative to the workspace. */
export function policyPath(path: string, workspace: string, home: string = homedir()): string {
  return path === "~" ? home : path.startsWith("~/") ? join(home, path.slice(2)) : resolve(workspace, path);
}

/** Whether `path` is `folder` or within it; both absolute and normal. */
export function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder === "/" ? "/" : `${folder}/`);
}

import { readFile } from "node:fs/promises";
import { isWithin } from "./policy-path.ts";

/** A mount as the kernel tells of it (proc_pid_mountinfo(5)). */
export interface MountEntry {
  readonly device: string;
  /** What of the file system on the device is mounted. */
  readonly root: string;
  readonly path: string;
  readonly isWritable: boolean;
}

/** The mounts that a process sees, in the order in which they were made. */
export async function readMountTable(pid: number | "self"): Promise<MountEntry[]> {
  const text = await readFile(`/proc/${pid}/mountinfo`, "utf8");
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const [, , device = "", root = "", path = "", options = ""] = line.split(" ").map(unescaped);
      return { device, root, path, isWritable: options.split(",").includes("rw") };
    });
}

/** Where a path stands on its device; `path` without links. */
export function placeOf(path: string, table: readonly MountEntry[]): { readonly device: string; readonly root: string } | undefined {
  const mount = table.findLast((entry) => isWithin(path, entry.path));
  return mount && { device: mount.device, root: joined(mount.root, path.slice(mount.path === "/" ? 0 : mount.path.length)) };
}

/** The other paths under which the same file or folder can be seen. */
export function aliasesOf(path: string, table: readonly MountEntry[]): string[] {
  const place = placeOf(path, table);
  if (place === undefined) return [];
  return table
    .filter(({ device, root }) => device === place.device && isWithin(place.root, root))
    .map((entry) => joined(entry.path, place.root.slice(entry.root === "/" ? 0 : entry.root.length)))
    .filter((alias) => alias !== path);
}

function joined(folder: string, rest: string): string {
  return folder === "/" ? rest || "/" : `${folder}${rest === "/" ? "" : rest}`;
}

function unescaped(text: string): string {
  return text.replaceAll(/\\([0-7]{3})/g, (_escape, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}

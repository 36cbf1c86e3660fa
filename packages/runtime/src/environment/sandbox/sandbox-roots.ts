import { dirname } from "node:path";
import type { DiskView } from "../files/disk-view.ts";
import { cannotProvide } from "./cannot-provide.ts";
import { lookAt } from "./look-at.ts";
import { isWithin, policyPath } from "./policy-path.ts";
import type { FilesystemPolicy } from "./sandbox-policy.ts";

/**
 * The real paths of the folders that commands may write and read.
 * @param shown folders that can be read in any case
 * @throws EnvironmentError of kind `provision-failed` where one is not there, or a command could lead it elsewhere
 */
export async function findRoots(
  filesystem: FilesystemPolicy,
  workspace: string,
  shown: readonly string[],
  disk: DiskView,
): Promise<{
  readonly writableRoots: readonly string[];
  readonly readableRoots: readonly string[];
  readonly cacheFolders: readonly string[];
}> {
  const writableRoots: string[] = [];
  for (const given of filesystem.writableRoots ?? [workspace]) writableRoots.push(await existingFolder(policyPath(given, workspace), disk));
  const readableRoots: string[] = [];
  for (const given of filesystem.readableRoots ?? []) {
    const path = await disk.realPath(policyPath(given, workspace)).catch(() => undefined);
    if (path === undefined) throw cannotProvide(`its readable root ${policyPath(given, workspace)} does not exist`);
    readableRoots.push(path);
  }
  for (const path of shown) readableRoots.push(await disk.realPath(path));
  for (const given of [...(filesystem.writableRoots ?? []), ...(filesystem.readableRoots ?? [])])
    await refuseLinkOfCommands(policyPath(given, workspace), writableRoots, disk);
  const cacheFolders: string[] = [];
  for (const given of filesystem.cacheFolders ?? []) {
    const folder = await existingFolder(policyPath(given, workspace), disk);
    const root = writableRoots.find((candidate) => isWithin(folder, candidate) || isWithin(candidate, folder));
    if (root !== undefined) throw cannotProvide(`its cache folder ${folder} and its writable root ${root} are in one another`);
    cacheFolders.push(folder);
  }
  return { writableRoots, readableRoots, cacheFolders };
}

/** A link within a writable root that leads out of it to another root can be made by a command, to be given what it leads to. */
async function refuseLinkOfCommands(given: string, writableRoots: readonly string[], disk: DiskView): Promise<void> {
  const real = await disk.realPath(given);
  for (let above = dirname(given); above !== "/"; above = dirname(above)) {
    const at = await disk.realPath(above);
    const root = writableRoots.find((candidate) => candidate !== real && isWithin(at, candidate) && !isWithin(real, candidate));
    if (root !== undefined)
      throw cannotProvide(`its root ${given} is ${real}, by a link within ${root} that commands can change; name the place itself`);
  }
}

async function existingFolder(path: string, disk: DiskView): Promise<string> {
  const found = await disk.realPath(path).catch(() => undefined);
  if (found === undefined || lookAt(found, disk) !== "folder") throw cannotProvide(`its writable root ${path} is not a folder`);
  if (found === "/" || ["/proc", "/sys", "/dev"].some((system) => isWithin(found, system)))
    throw cannotProvide(`${path} can't be a writable root: it is part of the system`);
  return found;
}

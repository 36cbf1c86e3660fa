import { lstatSync, readlinkSync, realpathSync } from "node:fs";
import { readlink, realpath } from "node:fs/promises";
import { basename, dirname, resolve } from "node:path/posix";
import { isWithin, joinPath, pathBelow } from "./virtual-path.ts";

/** The disk as somebody sees it: a mount in another namespace can show something else at a path than this process finds there. */
export interface DiskView {
  /** Where this process reaches what is at a path, the folders of which have to be no links. */
  locate(path: string): string;
  /** As of `node:fs`. */
  realPath(path: string): Promise<string>;
  realPathSync(path: string): string;
  readLink(path: string): Promise<string>;
  readLinkSync(path: string): string;
  /** The device of every folder at or below a path, where it is known: one of another device was reached past the view. */
  deviceOf(path: string): number | undefined;
}

/** The disk as this process sees it. */
export const OWN_VIEW: DiskView = {
  locate: (path) => path,
  realPath: (path) => realpath(path),
  realPathSync: (path) => realpathSync.native(path),
  readLink: (path) => readlink(path),
  readLinkSync: (path) => readlinkSync(path),
  deviceOf: () => undefined,
};

// As many links as Linux follows before it gives up.
const MAX_LINKS = 40;

/**
 * The disk where a mount stands over `folder`.
 * @param location where this process reaches the mount; it may be a link of the kernel's
 * @param device of the mount
 */
export function createFolderView(folder: string, location: string, device: number): DiskView {
  const locate = (path: string): string => (isWithin(folder, path) ? `${location}/${pathBelow(folder, path) || "."}` : path);

  // The system's own would follow the location out of the view, and so would links with absolute targets.
  function realPathSync(path: string): string {
    let left = partsOf(resolve(path));
    let at = "/";
    for (let links = 0; left.length > 0;) {
      const [name, ...rest] = left as [string, ...string[]];
      left = rest;
      if (name === "..") {
        at = dirname(at);
        continue;
      }
      const next = joinPath(at, name);
      if (!lstatSync(locate(next)).isSymbolicLink()) {
        at = next;
        continue;
      }
      if (++links > MAX_LINKS) throw Object.assign(new Error(`ELOOP: too many symbolic links, realpath '${path}'`), { code: "ELOOP" });
      const target = readlinkSync(locate(next));
      if (target.startsWith("/")) at = "/";
      left = [...partsOf(target), ...left];
    }
    return at;
  }
  const readLinkSync = (path: string): string => readlinkSync(locate(joinPath(realPathSync(dirname(path)), basename(path))));
  return {
    locate,
    realPath: async (path) => realPathSync(path),
    realPathSync,
    readLink: async (path) => readLinkSync(path),
    readLinkSync,
    deviceOf: (path) => (isWithin(folder, path) ? device : undefined),
  };
}

function partsOf(path: string): string[] {
  return path.split("/").filter((part) => part !== "" && part !== ".");
}

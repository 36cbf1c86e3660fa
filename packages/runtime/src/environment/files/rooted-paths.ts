import { basename, dirname, resolve } from "node:path/posix";
import { VfsError } from "@keelson/protocol";
import { type DiskView, OWN_VIEW } from "./disk-view.ts";
import { type FileAccess, refusedAccess } from "./file-access.ts";
import { systemCode, vfsErrorFrom } from "./vfs-error-from.ts";
import { outsideRoot } from "./vfs-failures.ts";
import { isWithin, requireFits, requirePossible } from "./virtual-path.ts";

/** A path inside the roots, free of symbolic links as far as it exists. */
export interface RootedPath {
  /** The real path; its last parts may not exist. */
  readonly real: string;
  /** The deepest part that exists. */
  readonly existing: string;
  /** What is missing below it, outermost first. */
  readonly missing: readonly string[];
}

export interface RootedPaths {
  /** Where the paths are. */
  readonly disk: DiskView;
  /** The real path of the main root. */
  readonly root: string;
  /** Follows links, also a dangling one, and rejects with `path-traversal` when the end lies outside the roots. */
  resolve(path: string, workingDirectory: string): Promise<RootedPath>;
  /** As `resolve`, but the last part is taken as it stands: for removing or moving a link rather than its target. */
  resolveEntry(path: string, workingDirectory: string): Promise<RootedPath>;
  /** As `resolve`, at once. */
  resolveSync(path: string, workingDirectory: string): string;
  contains(real: string): boolean;
  /** The widest root that a real path lies in. */
  rootOf(real: string): string;
}

// As many links as Linux follows before it gives up.
const MAX_LINKS = 40;

/** Paths that may not leave `root` and `allowed`. Every one of them must exist. */
export function createRootedPaths(root: string, allowed: readonly string[], access?: FileAccess, disk: DiskView = OWN_VIEW): RootedPaths {
  const lexical = [root, ...allowed].map((path) => resolve(path));
  const real = lexical.map((path) => {
    try {
      return disk.realPathSync(path);
    } catch (error) {
      throw vfsErrorFrom(error, path);
    }
  });
  const main = real[0] as string;
  const entrances = [...new Set([...lexical, ...real])];
  const contains = (path: string): boolean => real.some((folder) => isWithin(folder, path));
  const traversal = (attempted: string): VfsError => outsideRoot(attempted, main);

  const absolute = (path: string, workingDirectory: string): string => {
    requirePossible(path);
    const whole = resolve(workingDirectory, path);
    // The system looks at the length last: parts that are missing would be made first.
    requireFits(whole, path);
    if (!entrances.some((folder) => isWithin(folder, whole))) throw traversal(path);
    return whole;
  };
  const checked = (path: string, existing: string, missing: readonly string[]): RootedPath => {
    const end = missing.length === 0 ? existing : resolve(existing, ...missing);
    if (!contains(end)) throw traversal(path);
    if (access?.of(end) === "none") throw refusedAccess(access, "read", path, end);
    return { real: end, existing, missing };
  };

  const follow = async (path: string, start: string): Promise<RootedPath> => {
    let current = start;
    let links = 0;
    const missing: string[] = [];
    for (;;) {
      try {
        return checked(path, await disk.realPath(current), missing);
      } catch (error) {
        if (systemCode(error) !== "ENOENT") throw vfsErrorFrom(error, path);
        const target = await disk.readLink(current).catch(() => undefined); // no link: the part is missing
        if (target === undefined) {
          missing.unshift(basename(current));
          current = dirname(current);
        } else {
          if (++links > MAX_LINKS) throw tooManyLinks(path);
          current = resolve(await disk.realPath(dirname(current)), target);
        }
      }
    }
  };

  return {
    disk,
    root: main,
    contains,
    rootOf: (path) => real.filter((folder) => isWithin(folder, path)).reduce((a, b) => (a.length < b.length ? a : b)),
    resolve: async (path, workingDirectory) => follow(path, absolute(path, workingDirectory)),
    async resolveEntry(path, workingDirectory) {
      const whole = absolute(path, workingDirectory);
      if (entrances.includes(whole)) return follow(path, whole);
      const parent = await follow(path, dirname(whole));
      return checked(path, parent.existing, [...parent.missing, basename(whole)]);
    },
    resolveSync(path, workingDirectory) {
      let current = absolute(path, workingDirectory);
      let links = 0;
      const missing: string[] = [];
      for (;;) {
        try {
          return checked(path, disk.realPathSync(current), missing).real;
        } catch (error) {
          if (systemCode(error) !== "ENOENT") throw vfsErrorFrom(error, path);
          const target = linkTarget(current, disk);
          if (target === undefined) {
            missing.unshift(basename(current));
            current = dirname(current);
          } else {
            if (++links > MAX_LINKS) throw tooManyLinks(path);
            current = resolve(disk.realPathSync(dirname(current)), target);
          }
        }
      }
    },
  };
}

function tooManyLinks(path: string): VfsError {
  return new VfsError({ kind: "io", path, code: "ELOOP", message: `${path} leads through more than ${MAX_LINKS} symbolic links.` });
}

function linkTarget(path: string, disk: DiskView): string | undefined {
  try {
    return disk.readLinkSync(path);
  } catch {
    return undefined; // no link: the part is missing
  }
}

import { lstatSync, realpathSync, rmSync, statSync, type Stats } from "node:fs";
import { dirname, isAbsolute, join } from "node:path/posix";
import type { MovedEntry } from "@keelson/protocol";
import { type DiskView, OWN_VIEW } from "../files/disk-view.ts";
import { bytesOf, isMissing, systemPath, textOf } from "./folder-listing.ts";
import { isMovedAside, moveAside } from "./move-aside.ts";
import type { SteeringReport } from "./steering-report.ts";
import type { ScannedRoot } from "./plain-git-entry.ts";
import { isWithin } from "./policy-path.ts";
import { MAX_FOLDERS, SteeringScanner, type SteeringScan } from "./scan-steering.ts";
import { recordsOf, writeRecord, type WatchRecord } from "./watch-records.ts";

/** Files below a folder that steer later work. Paths are text, absolute, and as commands see them. */
export interface FoundSteering {
  /** Exists and must stay as it is. */
  readonly kept: readonly string[];
  readonly repositories: readonly string[];
  readonly worktrees: readonly string[];
}

/** A writable root before and after a command. */
export interface SteeringRoot extends FoundSteering {
  /**
   * Begins to watch the root for a command.
   * @param missing absolute paths that no command may make
   * @returns ends it, and moves new entries aside
   */
  watch(missing: readonly string[]): () => Promise<void>;
}

// The number of folders that a scan reads in other roots than the workspace, such as caches of packages.
const OTHER_FOLDERS = 2000;
const MAX_SCANNERS = 64;
const scanners = new Map<string, SteeringScanner>();
/** Folders of which it was said that they are too large. */
const told = new Set<string>();

export interface SteeringRootOptions {
  readonly isWorkspace: boolean;
  /** False: only the paths that `watch` is given are watched for. */
  readonly byName: boolean;
  readonly report: Pick<SteeringReport, "movedAside" | "notices">;
}

/** Finds files that steer later work below a folder. */
export function findSteering(path: string, disk: DiskView = OWN_VIEW, isWorkspace = true): FoundSteering {
  return described(bytesOf(path), scanRoot(path, disk, isWorkspace));
}

/**
 * Scans a writable root before a command, and moves aside what running or killed commands made there.
 */
export async function openSteeringRoot(
  path: string,
  disk: DiskView,
  { isWorkspace, byName, report }: SteeringRootOptions,
): Promise<SteeringRoot> {
  const root: ScannedRoot = { location: bytesOf(disk.locate(path)), path: bytesOf(path) };
  const { dev, ino } = statSync(disk.locate(path), { bigint: true });
  const inode = `${dev}:${ino}`;
  const scan = (): SteeringScan => scanRoot(path, disk, isWorkspace);

  let found = scan();
  const moved = await sweep(recordsOf(root.path, inode), found);
  if (moved.length > 0) {
    found = scan();
    report.movedAside.push(...moved);
  }

  if (isWorkspace && found.isCut && !told.has(path)) {
    told.add(path);
    report.notices.push(
      `Sandbox: ${path} has more than ${MAX_FOLDERS} folders. In others, files that steer later work are neither protected nor moved aside.`,
    );
  }

  /** Moves aside what a record does not know. */
  async function sweep(records: readonly WatchRecord[], now: SteeringScan): Promise<MovedEntry[]> {
    const all: MovedEntry[] = [];
    for (const record of records) {
      const { lastSeenMs } = record;
      for (const entry of foreignTo(record, now))
        if (lastSeenMs === undefined || madeBefore(entry, lastSeenMs)) all.push(...(await takeAside(entry)));
      if (lastSeenMs !== undefined) rmSync(record.file, { force: true });
    }
    return all;
  }
  async function takeAside(entry: string): Promise<readonly MovedEntry[]> {
    const one = await moveAside(path, entry, disk);
    return one === undefined ? [] : [one];
  }
  function madeBefore(entry: string, timeMs: number): boolean {
    const stats = statsOf(joined(root.location, entry));
    return stats !== undefined && Math.min(stats.birthtimeMs || Infinity, stats.ctimeMs) <= timeMs;
  }
  function foreignTo({ known, byName: isByName, watched }: Pick<WatchRecord, "known" | "byName" | "watched">, now: SteeringScan): string[] {
    const foreign = watched.filter((entry) => !known.has(entry) && statsOf(joined(root.location, entry)) !== undefined);
    if (!isByName) return foreign;
    const links = [...now.links].filter(([link, target]) => !known.has(linkKey(link, target)) && leadsToSteering(link, target));
    return [...new Set([...foreign, ...now.steering.filter((entry) => !known.has(keyOf(entry))), ...links.map(([link]) => link)])];
  }
  /** A path that is not UTF-8 can't be mounted, so the time of its last change is part of its key. */
  function keyOf(entry: string): string {
    return textOf(entry) === undefined ? `${entry}\0${statsOf(joined(root.location, entry))?.ctimeMs}` : entry;
  }
  /** True if a link shows a folder of the root, with what steers in it, at another place. */
  function leadsToSteering(link: string, target: string): boolean {
    if (isMovedAside(link)) return false;
    const whole = isAbsolute(target) ? target : join(root.location, dirname(link), target);
    const at = isAbsolute(target) && isWithin(target, root.path) ? root.location + target.slice(root.path.length) : whole;
    try {
      const real = realpathSync(systemPath(at), { encoding: "latin1" });
      const base = realpathSync(systemPath(root.location), { encoding: "latin1" });
      if (real === base) return true;
      if (!isWithin(real, base) || !statSync(systemPath(real)).isDirectory()) return false;
      return scannerOf(path, disk).scan(root, real.slice(base.length + 1)).steering.length > 0;
    } catch (error) {
      if (isMissing(error)) return false;
      throw error;
    }
  }

  return {
    ...described(root.path, found),
    watch(missing) {
      const known = new Set([...found.steering.map(keyOf), ...[...found.links].map(([link, target]) => linkKey(link, target))]);
      const watched = missing.filter((one) => isWithin(one, path) && one !== path).map((one) => bytesOf(one).slice(root.path.length + 1));
      const record = writeRecord({ root: root.path, inode, known, byName, watched });
      return async () => {
        try {
          const now = scan();
          for (const entry of foreignTo({ known: record.read(), byName, watched }, now))
            report.movedAside.push(...(await takeAside(entry)));
          if (isWorkspace && now.isCut && !found.isCut)
            report.notices.push(
              `Sandbox: a command made so many folders in ${path} that not all were searched for files that steer later work. Delete them before you go on.`,
            );
        } finally {
          record.remove();
        }
      };
    },
  };
}

function described(root: string, { steering, plain, repositories, worktrees }: SteeringScan): FoundSteering {
  const whole = new Set(plain);
  const absolute = (entries: readonly string[]): string[] =>
    entries.map((entry) => textOf(joined(root, entry))).filter((entry) => entry !== undefined);
  return {
    kept: absolute([...steering.filter((entry) => !whole.has(dirname(entry))), ...plain]),
    repositories: absolute(repositories),
    worktrees: absolute(worktrees),
  };
}

function scanRoot(path: string, disk: DiskView, isWorkspace: boolean): SteeringScan {
  const root: ScannedRoot = { location: bytesOf(disk.locate(path)), path: bytesOf(path) };
  return scannerOf(path, disk).scan(root, "", isWorkspace ? MAX_FOLDERS : OTHER_FOLDERS);
}

function scannerOf(path: string, disk: DiskView): SteeringScanner {
  const { dev, ino } = statSync(disk.locate(path), { bigint: true });
  const key = `${dev}:${ino}:${path}`;
  let scanner = scanners.get(key);
  if (scanner === undefined) {
    const [first] = scanners.keys();
    if (scanners.size >= MAX_SCANNERS && first !== undefined) scanners.delete(first);
    scanners.set(key, (scanner = new SteeringScanner()));
  }
  return scanner;
}

function statsOf(path: string): Stats | undefined {
  try {
    return lstatSync(systemPath(path), { throwIfNoEntry: false });
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

function linkKey(link: string, target: string): string {
  return `${link}\0${target}`;
}

function joined(root: string, path: string): string {
  return `${root === "/" ? "" : root}/${path}`;
}

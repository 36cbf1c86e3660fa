import { appendFileSync, lstatSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { nodeCrypto } from "../../platform/node-crypto.ts";
import { isDeadOwner, processOwner } from "../../platform/process-owner.ts";
import { PathNames } from "../workspace/path-names.ts";
import { STEERING_PATHS } from "../workspace/steering-paths.ts";
import { bytesOf, isMissing } from "./folder-listing.ts";
import { stateFolder } from "./state-folder.ts";

/** The files of a folder that steered later work when a command began. It is on disk, so that another process finds it if this one is killed. */
export interface WatchRecord {
  readonly file: string;
  /** The folder as commands see it, in bytes as of `FolderListing`, and the identity of its inode. */
  readonly root: string;
  readonly inode: string;
  /** Keys of what was there, and of what was put there since with the consent of a person. */
  readonly known: ReadonlySet<string>;
  /** True if all that steers by its name is watched for, not only the paths of `watched`. */
  readonly byName: boolean;
  /** Paths below the root that did not exist, and that no command may make. */
  readonly watched: readonly string[];
  /** The time at which the process that wrote it was last seen, in ms since 1970; `undefined` if it still runs. */
  readonly lastSeenMs: number | undefined;
}

interface Header {
  readonly version: 1;
  readonly owner: string;
  readonly root: string;
  readonly inode: string;
  readonly byName: boolean;
  readonly watched: readonly string[];
}

const BEAT_MS = 10_000;
// A record of a process that cannot be looked for, as after a restart of the machine.
const STALE_MS = 10 * 60_000;
/** Age at which the record of a folder is removed, if no command ran there since. */
const FORGOTTEN_MS = 30 * 24 * 3600_000;
const SUFFIX = ".watch";

let names: PathNames | undefined;

/** Writes a record, and keeps its time until it is removed. Without a folder for it the record is only kept in memory. */
export function writeRecord({ root, inode, known, byName, watched }: Omit<WatchRecord, "file" | "lastSeenMs">): {
  /** Returns the keys that are known by now. */
  read(): ReadonlySet<string>;
  remove(): void;
} {
  const at = stateFolder();
  const header: Header = { version: 1, owner: processOwner(), root, inode, byName, watched };
  const text = [header, ...known].map((line) => `${JSON.stringify(line)}\n`).join("");
  const file = at && join(at, `${nodeCrypto().randomBytes(8).toString("hex")}${SUFFIX}`);
  try {
    if (file !== undefined) writeFileSync(file, text, { flag: "wx", mode: 0o600 });
  } catch {
    // A full disk: then a command that is killed is not cleared up after.
    return { read: () => known, remove: () => {} };
  }
  if (file === undefined) return { read: () => known, remove: () => {} };
  const beat = setInterval(() => touch(file), BEAT_MS);
  beat.unref();
  return {
    read: () => readRecord(file)?.known ?? known,
    remove() {
      clearInterval(beat);
      rmSync(file, { force: true });
    },
  };
}

/** All records of commands that run, or were killed, in a folder with this inode. */
export function recordsOf(root: string, inode: string): readonly WatchRecord[] {
  return allRecords().filter((record) => record.root === root && record.inode === inode);
}

/** Records a file that this process itself writes while commands run, so that it is not taken for one of theirs. */
export function addToRecords(given: string): void {
  const path = bytesOf(given);
  names ??= new PathNames(STEERING_PATHS);
  if (!names.has(path)) return;
  for (const { file, root } of allRecords()) {
    const entry = path.startsWith(`${root}/`) ? names.named(path.slice(root.length + 1)) : undefined;
    if (entry === undefined) continue;
    try {
      appendFileSync(file, `${JSON.stringify(entry)}\n`, { flag: "a" });
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
  }
}

function allRecords(): readonly WatchRecord[] {
  const at = stateFolder();
  if (at === undefined) return [];
  try {
    return readdirSync(at)
      .filter((name) => name.endsWith(SUFFIX))
      .map((name) => readRecord(join(at, name)))
      .filter((record) => record !== undefined);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

function readRecord(file: string): WatchRecord | undefined {
  try {
    const { mtimeMs } = lstatSync(file);
    const [first, ...lines] = readFileSync(file, "utf8").split("\n");
    const { owner, root, inode, byName, watched, version } = JSON.parse(first ?? "") as Header;
    if (version !== 1) return undefined;
    // The last line is empty, or was cut off when its process was killed.
    const known = new Set(lines.slice(0, -1).map((line) => JSON.parse(line) as string));
    const age = Date.now() - mtimeMs;
    const isGone = isDeadOwner(owner) || age > STALE_MS;
    if (isGone && age > FORGOTTEN_MS) {
      rmSync(file, { force: true });
      return undefined;
    }
    return { file, root, inode, known, byName, watched, lastSeenMs: isGone ? mtimeMs + BEAT_MS : undefined };
  } catch (error) {
    if (isMissing(error) || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function touch(file: string): void {
  try {
    const now = new Date();
    utimesSync(file, now, now);
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
}

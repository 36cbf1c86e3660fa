import { type BigIntStats, type Dirent, lstatSync, readdirSync } from "node:fs";

/** The entries of a folder that a walk needs. Names are bytes, written as characters of Latin-1, because a name need not be UTF-8. */
export interface FolderListing {
  readonly folders: readonly string[];
  /** Symbolic links. */
  readonly links: readonly string[];
  /** All other entries. */
  readonly files: readonly string[];
  /** True if its entries can't be listed, although some may be opened by their names. */
  readonly isClosed?: true;
}

interface KeptListing extends FolderListing {
  readonly inode: bigint;
  readonly device: bigint;
  readonly changedNs: bigint;
}

const EMPTY: FolderListing = { folders: [], links: [], files: [] };
const CLOSED: FolderListing = { ...EMPTY, isClosed: true };
const MAX_KEPT = 50_000;
// The clock of a file system advances in steps of some milliseconds: a second change within one step would not be seen.
const SETTLED_NS = 100_000_000n;

/** Lists folders, and remembers each list until its folder changes. */
export class FolderListings {
  readonly #kept = new Map<string, KeptListing>();

  /** @param path bytes as of `FolderListing` */
  list(path: string): FolderListing {
    const at = systemPath(path);
    let stats: BigIntStats | undefined;
    try {
      stats = lstatSync(at, { bigint: true, throwIfNoEntry: false });
      if (stats === undefined || !stats.isDirectory()) return EMPTY;
      const kept = this.#kept.get(path);
      if (kept !== undefined && kept.inode === stats.ino && kept.device === stats.dev && kept.changedNs === stats.ctimeNs) return kept;
      const listing = sorted(readdirSync(at, { withFileTypes: true, encoding: "latin1" }));
      const isSettled = BigInt(Date.now()) * 1_000_000n - stats.ctimeNs > SETTLED_NS;
      if (!isSettled || this.#kept.size >= MAX_KEPT) this.#kept.delete(path);
      else this.#kept.set(path, { ...listing, inode: stats.ino, device: stats.dev, changedNs: stats.ctimeNs });
      return listing;
    } catch (error) {
      if (stats !== undefined && (error as NodeJS.ErrnoException).code === "EACCES") return CLOSED;
      if (isMissing(error)) return EMPTY;
      throw error;
    }
  }
}

/** Bytes written as characters, as a path for the system. */
export function systemPath(path: string): string | Buffer {
  // eslint-disable-next-line no-control-regex
  return /^[\0-\x7f]*$/.test(path) ? path : Buffer.from(path, "latin1");
}

/** A path as bytes written as characters. */
export function bytesOf(path: string): string {
  return Buffer.from(path, "utf8").toString("latin1");
}

/** The path as text; `undefined` if it is not UTF-8. */
export function textOf(path: string): string | undefined {
  const text = Buffer.from(path, "latin1").toString("utf8");
  return bytesOf(text) === path ? text : undefined;
}

/** True if an error says that an entry is gone or can't be read. */
export function isMissing(error: unknown): boolean {
  return ["ENOENT", "ENOTDIR", "EACCES", "EPERM", "ELOOP", "ENAMETOOLONG"].includes((error as NodeJS.ErrnoException).code ?? "");
}

function sorted(entries: readonly Dirent[]): FolderListing {
  const listing = { folders: [] as string[], links: [] as string[], files: [] as string[] };
  for (const entry of entries) {
    const { name } = entry;
    if (entry.isDirectory()) listing.folders.push(name);
    else if (entry.isSymbolicLink()) listing.links.push(name);
    else listing.files.push(name);
  }
  return listing;
}

import { createHash } from "node:crypto";
import { lstatSync, readFileSync, realpathSync, renameSync, statSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path/posix";
import { type DiskView, OWN_VIEW } from "../files/disk-view.ts";
import { type NameStep, PathNames } from "../workspace/path-names.ts";
import { SECRET_PATHS, SECRET_SAMPLES } from "../workspace/secret-paths.ts";
import { bytesOf, type FolderListing, FolderListings, isMissing, systemPath, textOf } from "./folder-listing.ts";
import { type TrackedFiles, trackedFiles } from "./git-index.ts";
import { stateFolder } from "./state-folder.ts";

/** Files and folders of a workspace whose names say that they hold secrets. Paths are below the workspace. */
export interface SecretFiles {
  /** Git does not track them. */
  readonly hidden: readonly string[];
  /** The history of git holds them, so that hiding them would protect nothing. */
  readonly tracked: readonly string[];
  /** True if the workspace has more folders than are searched. */
  readonly isCut: boolean;
}

const MAX_FOLDERS = 20_000;
const MAX_SAMPLE_BYTES = 64 * 1024;
/** Folders that programs fill: their keys are samples and public certificates, without which the programs fail. */
const FILLED_FOLDERS: ReadonlySet<string> = new Set([
  ...[".git", ".hg", ".svn", "node_modules", "bower_components", ".venv", "venv", "site-packages", "dist-packages", "__pycache__"],
  ...["vendor", "target", ".tox", ".nox", ".gradle", ".m2", ".yarn", ".pnpm-store", ".cargo", ".cache", ".next", ".nuxt", "Pods"],
]);
const NAMES = new PathNames(SECRET_PATHS, SECRET_SAMPLES);
const SAMPLES = new PathNames(SECRET_SAMPLES);
const isNamed = (path: string): boolean => NAMES.has(path);
const listings = new FolderListings();

/**
 * Finds the files of a workspace whose names say that they hold secrets. Samples are none, and neither are empty files and copies of a sample beside
 * them. After the first search of a workspace, a file whose name is new in the index counts as tracked only if the index has its content: a command
 * could add a name without having seen the file.
 */
export function findSecretFiles(workspace: string, disk: DiskView = OWN_VIEW): SecretFiles {
  const root = bytesOf(disk.locate(workspace));
  const found: string[] = [];
  const worktrees: string[] = [];
  const left: { readonly folder: string; readonly step: NameStep }[] = [{ folder: "", step: [] }];
  let looked = 0;
  for (; looked < left.length && looked < MAX_FOLDERS; looked++) {
    const { folder, step } = left[looked] as (typeof left)[number];
    const { names, entered, isWorktree } = look(listings.list(joined(root, folder)), step);
    if (isWorktree) worktrees.push(folder);
    for (const { name, isFolder } of names) if (isFolder || holdsSecret(root, folder, name)) found.push(below(folder, name));
    for (const { name, step: next } of entered) left.push({ folder: below(folder, name), step: next });
  }
  const known = readKnown(workspace);
  const tracked = new Set(found.filter((path) => isTracked(root, path, { worktrees, known })));
  const hidden = found.filter((path) => !tracked.has(path));
  keepKnown(workspace, known, tracked);
  const texts = (paths: readonly string[]): string[] => paths.map(textOf).filter((path) => path !== undefined);
  return { hidden: texts(hidden), tracked: texts([...tracked]), isCut: looked < left.length };
}

/** The result for one list of a folder. */
interface SeenFolder {
  readonly names: readonly { readonly name: string; readonly isFolder: boolean }[];
  readonly entered: readonly { readonly name: string; readonly step: NameStep }[];
  readonly isWorktree: boolean;
}

const seen = new WeakMap<FolderListing, SeenFolder>();

/** Reads one list of a folder; the result is kept for as long as the list is the same. */
function look(listing: FolderListing, step: NameStep): SeenFolder {
  const kept = step.length === 0 ? seen.get(listing) : undefined;
  if (kept !== undefined) return kept;
  const { folders, links, files } = listing;
  const names = [...files, ...links].flatMap((name) => (NAMES.enter(step, name) === "named" ? [{ name, isFolder: false }] : []));
  const entered: { readonly name: string; readonly step: NameStep }[] = [];
  for (const name of folders) {
    if (FILLED_FOLDERS.has(name)) continue;
    const next = NAMES.enter(step, name);
    if (next === "named") names.push({ name, isFolder: true });
    else entered.push({ name, step: next });
  }
  const found = { names, entered, isWorktree: [folders, files, links].some((list) => list.includes(".git")) };
  if (step.length === 0) seen.set(listing, found);
  return found;
}

/** True unless the file is empty, a copy of a sample beside it, or a link to a sample. */
function holdsSecret(root: string, folder: string, name: string): boolean {
  const path = joined(root, below(folder, name));
  try {
    const stats = lstatSync(systemPath(path));
    if (stats.isSymbolicLink()) return !SAMPLES.has(basename(realpathSync(systemPath(path), { encoding: "latin1" })));
    if (!stats.isFile()) return false;
    if (stats.size === 0) return false;
    if (stats.size > MAX_SAMPLE_BYTES) return true;
    const same = listings.list(joined(root, folder)).files.filter((other) => {
      const at = systemPath(joined(root, below(folder, other)));
      return SAMPLES.has(other) && statSync(at).size === stats.size && readFileSync(at).equals(readFileSync(systemPath(path)));
    });
    return same.length === 0;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

/** True if git tracks a file, or a file in a folder, in the repository of the nearest worktree. */
function isTracked(
  root: string,
  path: string,
  { worktrees, known }: { readonly worktrees: readonly string[]; readonly known: ReadonlySet<string> | undefined },
): boolean {
  const worktree = worktrees
    .filter((folder) => folder === "" || path.startsWith(`${folder}/`))
    .reduce<string | undefined>(
      (deepest, folder) => (deepest === undefined || folder.length > deepest.length ? folder : deepest),
      undefined,
    );
  if (worktree === undefined) return false;
  const inside = worktree === "" ? path : path.slice(worktree.length + 1);
  const tracked = trackedFiles(joined(root, worktree), isNamed);
  const blob = tracked.get(inside);
  if (blob === undefined && !hasTrackedBelow(tracked, inside)) return false;
  return known === undefined || known.has(path) || (blob !== undefined && isBlob(joined(root, path), blob));
}

function hasTrackedBelow(tracked: TrackedFiles, folder: string): boolean {
  for (const path of tracked.keys()) if (path.startsWith(`${folder}/`)) return true;
  return false;
}

/** True if a file has the content of a blob of git. */
function isBlob(path: string, id: string): boolean {
  try {
    const content = readFileSync(systemPath(path));
    return (
      createHash(id.length === 64 ? "sha256" : "sha1")
        .update(`blob ${content.byteLength}\0`)
        .update(content)
        .digest("hex") === id
    );
  } catch (error) {
    if (isMissing(error) || (error as NodeJS.ErrnoException).code === "EISDIR") return false;
    throw error;
  }
}

function knownFile(workspace: string): string | undefined {
  const folder = stateFolder();
  return folder && join(folder, `${createHash("sha256").update(workspace).digest("hex").slice(0, 32)}.tracked`);
}

/** The files of a workspace that were tracked at the last search; `undefined` if there was none. */
function readKnown(workspace: string): ReadonlySet<string> | undefined {
  const file = knownFile(workspace);
  try {
    return file === undefined ? undefined : new Set(JSON.parse(readFileSync(file, "utf8")) as readonly string[]);
  } catch (error) {
    if (isMissing(error)) return undefined;
    // A file that is damaged vouches for nothing.
    if (error instanceof SyntaxError) return new Set();
    throw error;
  }
}

function keepKnown(workspace: string, known: ReadonlySet<string> | undefined, tracked: ReadonlySet<string>): void {
  const file = knownFile(workspace);
  if (file === undefined || (known?.size === tracked.size && [...tracked].every((path) => known.has(path)))) return;
  try {
    writeFileSync(`${file}.new`, JSON.stringify([...tracked]), { mode: 0o600 });
    renameSync(`${file}.new`, file);
  } catch {
    // A full disk: then a name that a command adds to the index counts as tracked.
  }
}

function joined(root: string, path: string): string {
  return path === "" ? root : `${root === "/" ? "" : root}/${path}`;
}

function below(folder: string, name: string): string {
  return folder === "" ? name : `${folder}/${name}`;
}

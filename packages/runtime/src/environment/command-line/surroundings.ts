import { type Dirent, readdirSync, realpathSync } from "node:fs";
import { dirname, join, normalize, relative } from "node:path";
import { PathNames } from "../workspace/path-names.ts";
import { SECRET_PATHS, SECRET_SAMPLES } from "../workspace/secret-paths.ts";
import { nameMatcher } from "./name-matcher.ts";

/** Limits what is looked at for one line. */
const MAX_ENTRIES = 50_000;
const MAX_MATCHES = 500;
const MAX_COMPARISONS = 500_000;
const MAX_PATH = 4096;
/** Folders that hold no files of the person, and many of others. */
const SKIPPED: ReadonlySet<string> = new Set(["node_modules", ".git"]);

/** The files around a command line, looked at once for each line. Folders that do not exist here have no entries. */
export class Surroundings {
  readonly #workspace: string;
  readonly #realWorkspace: string;
  readonly #folders = new Map<string, readonly Dirent[]>();
  readonly #followed = new Map<string, string>();
  readonly #dashed = new Map<string, boolean>();
  readonly #matched = new Map<string, readonly string[] | undefined>();
  #secrets: PathNames | undefined;
  #left = MAX_ENTRIES;
  #comparisons = 0;

  constructor(workspace: string) {
    this.#workspace = workspace;
    this.#realWorkspace = realPath(workspace) ?? workspace;
  }

  /** Returns the path that the system takes this one for: links are followed, and `..` behind a link leads out of its target. */
  follow(path: string): string {
    const known = this.#followed.get(path);
    if (known !== undefined) return known;
    // The system takes no longer paths.
    const real = path.length > MAX_PATH ? normalize(path) : this.#real(path);
    this.#left--;
    const inside = relative(this.#realWorkspace, real);
    const isInside = inside !== ".." && !inside.startsWith("../") && !inside.startsWith("/");
    const found = isInside ? join(this.#workspace, inside) : real;
    this.#followed.set(path, found);
    return found;
  }

  /** Returns the path without `.` and `..`: behind a link, `..` is the folder above its target. */
  withoutDots(path: string): string {
    const up = path.lastIndexOf("/..");
    if (up < 0 || !/^(?:\/|$)/.test(path.slice(up + 3))) return normalize(path);
    return join(this.follow(path.slice(0, up + 3)), path.slice(up + 3));
  }

  /** Returns the real path of what exists of a path, with the rest behind it. */
  #real(path: string): string {
    const found = realPath(path);
    if (found !== undefined || path === "/" || !path.includes("/")) return found ?? path;
    const at = path.lastIndexOf("/");
    const name = path.slice(at + 1);
    const parent = this.#real(path.slice(0, at) || "/");
    if (name === "..") return dirname(parent);
    return name === "" || name === "." ? parent : join(parent, name);
  }

  /** Returns the files that a pattern of the shell matches, as absolute paths. `undefined` if there are too many. */
  matches(pattern: string): readonly string[] | undefined {
    if (!this.#matched.has(pattern)) this.#matched.set(pattern, this.#match(pattern));
    return this.#matched.get(pattern);
  }

  #match(pattern: string): readonly string[] | undefined {
    if (pattern.length > MAX_PATH) return undefined;
    let found: readonly string[] = [""];
    for (const [index, segment] of pattern.split("/").entries()) {
      if (index === 0 && segment === "") continue;
      if (!/[*?[\\@+!(]/.test(segment)) found = found.map((path) => `${path}/${segment}`);
      else {
        const isName = nameMatcher(segment);
        found = found.flatMap((path) => {
          const entries = this.#entries(path || "/");
          this.#comparisons += entries.length;
          return this.#comparisons > MAX_COMPARISONS ? [] : entries.flatMap(({ name }) => (isName(name) ? [`${path}/${name}`] : []));
        });
      }
      if (found.length > MAX_MATCHES || this.#left <= 0 || this.#comparisons > MAX_COMPARISONS) return undefined;
    }
    return found;
  }

  /** True if the folder holds a file that a program would take for an option. */
  hasDashed(folder: string): boolean {
    const known = this.#dashed.get(folder);
    if (known !== undefined) return known;
    const found = this.#entries(folder).some(({ name }) => name.startsWith("-"));
    this.#dashed.set(folder, found);
    return found;
  }

  /** True if more was looked at than a line may have. What is found from then on is not all that there is. */
  get isExhausted(): boolean {
    return this.#left <= 0;
  }

  /**
   * Returns the files in a folder and below that hold secrets, and those that links there lead to, out of the workspace or to a secret.
   * `undefined` if there are too many files.
   */
  secretsBelow(
    folder: string,
    { isRead, follows }: { readonly isRead: (name: string) => boolean; readonly follows: "nothing" | "files" | "all" },
  ): readonly string[] | undefined {
    const found: string[] = [];
    const pending = [folder];
    const seen = new Set<string>();
    for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
      if (seen.has(path)) continue;
      seen.add(path);
      for (const entry of this.#entries(path)) {
        const link = entry.isSymbolicLink() ? this.follow(join(path, entry.name)) : undefined;
        if (link !== undefined && follows === "nothing") continue;
        const inner = link ?? join(path, entry.name);
        if (entry.isDirectory() && !SKIPPED.has(entry.name)) pending.push(inner);
        else if (link !== undefined && follows === "all") pending.push(inner);
        if (!entry.isDirectory() && isRead(entry.name) && this.#isGuarded(inner)) found.push(inner);
        if (found.length > MAX_MATCHES) return found;
        if (this.#left <= 0) return undefined;
      }
    }
    return found;
  }

  /** True if a file holds a secret or is outside of the workspace. */
  #isGuarded(path: string): boolean {
    const secrets = (this.#secrets ??= new PathNames(SECRET_PATHS, SECRET_SAMPLES));
    const inside = relative(this.#workspace, path);
    return inside.startsWith("../") || inside.startsWith("/") || secrets.has(inside.toLowerCase());
  }

  #entries(folder: string): readonly Dirent[] {
    const known = this.#folders.get(folder);
    if (known !== undefined) return known;
    let entries: readonly Dirent[] = [];
    try {
      entries = readdirSync(folder, { withFileTypes: true });
    } catch {
      // It does not exist, is no folder, or is not for this user.
    }
    this.#left -= entries.length;
    this.#folders.set(folder, entries);
    return entries;
  }
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
}

import { type Dirent, readdirSync, realpathSync } from "node:fs";
import { dirname, join, normalize, relative } from "node:path";
import { PathNames } from "../workspace/path-names.ts";
import { SECRET_PATHS, SECRET_SAMPLES } from "../workspace/secret-paths.ts";
import { nameMatcher } from "./name-matcher.ts";

/** Limits what is looked at for one line. */
const MAX_ENTRIES = 50_000;
const MAX_MATCHES = 500;
/** Folders that hold no files of the person, and many of others. */
const SKIPPED: ReadonlySet<string> = new Set(["node_modules", ".git"]);

/** The files around a command line, looked at once for each line. Folders that do not exist here have no entries. */
export class Surroundings {
  readonly #workspace: string;
  readonly #realWorkspace: string;
  readonly #folders = new Map<string, readonly Dirent[]>();
  readonly #followed = new Map<string, string>();
  #secrets: PathNames | undefined;
  #left = MAX_ENTRIES;

  constructor(workspace: string) {
    this.#workspace = workspace;
    this.#realWorkspace = realPath(workspace) ?? workspace;
  }

  /** Returns the path that the system takes this one for: links are followed, and `..` behind a link leads out of its target. */
  follow(path: string): string {
    const known = this.#followed.get(path);
    if (known !== undefined) return known;
    const real = this.#real(path);
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
    let found: readonly string[] = [""];
    for (const [index, segment] of pattern.split("/").entries()) {
      if (index === 0 && segment === "") continue;
      if (!/[*?[\\@+!(]/.test(segment)) found = found.map((path) => `${path}/${segment}`);
      else {
        const isName = nameMatcher(segment);
        found = found.flatMap((path) => this.#entries(path || "/").flatMap(({ name }) => (isName(name) ? [`${path}/${name}`] : [])));
      }
      if (found.length > MAX_MATCHES || this.#left <= 0) return undefined;
    }
    return found;
  }

  /** True if the folder holds a file that a program would take for an option. */
  hasDashed(folder: string): boolean {
    return this.#entries(folder).some(({ name }) => name.startsWith("-"));
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

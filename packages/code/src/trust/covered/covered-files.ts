import { lstatSync, readdirSync, realpathSync, statSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { isWithin, slashed, stateOfPath } from "./file-states.ts";
import { treeDigest } from "./tree-digest.ts";

const MAX_FOLDER_FILES = 2_000;
/** Words with a folder or an ending. A file of such a name may be read if it is there, so that it counts before it is. */
const LOOKS_LIKE_PATH = /^[\w@.+-]*(?:\/[\w@.+-]+)+$|^[\w@.+-]*\w\.[a-z][a-z0-9]{0,5}$/i;
const TEXTS = /(?<quote>["'`])(?<text>[^"'`\n\\$]{1,200})\k<quote>/g;

/**
 * The files of a project that something which is run leads to. A path that is not there yet counts, too: a program may look for it first. If
 * it is not understood what is run, everything in the project counts.
 */
export class CoveredFiles {
  readonly project: string;
  readonly #states = new Map<string, string>();
  readonly #runs = new Set<string>();
  readonly #unknown = new Set<string>();
  #tree: string | undefined | "not looked at" = "not looked at";

  readonly #maxFiles: number | undefined;

  /** @param options - `maxFiles`: the most files of a repository that are read for its digest */
  constructor(project: string, options: { readonly maxFiles?: number } = {}) {
    this.project = project;
    this.#maxFiles = options.maxFiles;
  }

  isWithin(path: string): boolean {
    return isWithin(this.project, path);
  }

  /** Adds a path of the project with the state that it has. @returns its real path, if it is a file of the project */
  add(path: string): string | undefined {
    if (!this.isWithin(path)) return undefined;
    this.#states.set(slashed(relative(this.project, path)), stateOfPath(this.project, path));
    try {
      const real = realpathSync(path);
      return this.isWithin(real) && statSync(real).isFile() ? real : undefined;
    } catch {
      return undefined;
    }
  }

  /** Adds a file that is run, which is shown to the person. @returns the same as `add` */
  addRun(path: string): string | undefined {
    const real = this.add(path);
    if (real !== undefined) this.#runs.add(slashed(relative(this.project, path)));
    return real;
  }

  /** Adds files of this name in a folder and all folders above it within the project, where programs look for their settings. */
  addUpwards(folder: string, name: string): void {
    for (let at = folder; this.isWithin(at); at = dirname(at)) this.add(join(at, name));
  }

  /** Adds a path if something is there. */
  addExisting(path: string): void {
    if (this.isWithin(path) && stateOfPath(this.project, path) !== "absent") this.add(path);
  }

  /** Adds a path, whether or not something is there. @returns true if something is */
  addPossible(path: string): boolean {
    if (!this.isWithin(path)) return false;
    this.add(path);
    return stateOfPath(this.project, path) !== "absent";
  }

  /** The real paths of the files below a folder that were added. */
  pathsIn(folder: string): readonly string[] {
    return [...this.#states.keys()].map((path) => join(this.project, path)).filter((path) => isWithin(folder, path) && isFile(path));
  }

  /** Adds a folder with all that is in it. One with too much in it is not understood. */
  addFolder(folder: string): void {
    let left = MAX_FOLDER_FILES;
    const walk = (at: string): void => {
      this.add(at);
      for (const name of namesIn(at)) {
        if (--left < 0) return;
        const path = join(at, name);
        if (isFolder(path)) walk(path);
        else this.add(path);
      }
    };
    walk(folder);
    if (left < 0) this.notUnderstood(`the folder ${slashed(relative(this.project, folder)) || "."} has too many files`);
  }

  /** Adds what a word may name, if that is there: a file, or a whole folder. */
  addWord(word: string, cwd: string): void {
    for (const part of new Set([word, ...word.split(/[=:,]/)])) {
      const path = resolve(cwd, part);
      if (part === "" || part.includes("\0") || !this.isWithin(path)) continue;
      if (isFolder(path)) {
        if (path === this.project) this.notUnderstood(`${JSON.stringify(word)} names the whole repository`);
        else this.addFolder(path);
      } else if (LOOKS_LIKE_PATH.test(part)) this.add(path);
      else this.addExisting(path);
    }
  }

  /** Adds the files and folders that the texts of a script name: lists of rules, say. */
  addTexts(script: string, folders: readonly string[]): void {
    for (const { groups } of script.matchAll(TEXTS)) {
      const { text = "" } = groups ?? {};
      if (!LOOKS_LIKE_PATH.test(text)) continue;
      for (const folder of folders) {
        const path = resolve(folder, text);
        if (isFolder(path) && this.isWithin(path) && path !== this.project) this.addFolder(path);
        else this.add(path);
      }
    }
  }

  /** @param what - names what is not understood, for a person: "npm run guard" */
  notUnderstood(what: string): void {
    this.#unknown.add(what);
  }

  /** Changes if any of it changes. */
  state(): readonly unknown[] {
    const states = [...this.#states].toSorted(([a], [b]) => (a < b ? -1 : 1));
    if (this.#unknown.size === 0) return [states];
    // A tree that is too large is never the same: nothing of it can be trusted beyond one run.
    return [states, [...this.#unknown], this.#treeDigest() ?? crypto.randomUUID()];
  }

  #treeDigest(): string | undefined {
    if (this.#tree === "not looked at") this.#tree = treeDigest(this.project, this.#maxFiles);
    return this.#tree;
  }

  /** Lines for the person who is asked. */
  shows(): readonly string[] {
    const runs = [...this.#runs].toSorted().map((path) => `runs ${path}`);
    if (this.#unknown.size === 0) return runs;
    const unknown = [...this.#unknown].map((what) => `cannot tell which files of the repository this runs: ${what}`);
    const watch =
      this.#treeDigest() === undefined
        ? "the repository has too many files to watch, so trust in this does not last: use --trust for one run"
        : "so you are asked again after every change of any file of the repository, and of the commit that is checked out";
    return [...runs, ...unknown, watch];
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).toSorted();
  } catch {
    return [];
  }
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function isFolder(path: string): boolean {
  try {
    return lstatSync(path).isDirectory();
  } catch {
    return false;
  }
}

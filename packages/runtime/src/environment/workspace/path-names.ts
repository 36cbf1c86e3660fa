/** Names that are matched so far on the way down a path, beyond those that can begin in any folder. */
export type NameStep = readonly Branch[];

interface Branch {
  readonly exact: Map<string, Branch>;
  readonly wild: { readonly pattern: RegExp; readonly branch: Branch }[];
  isEnd: boolean;
}

/** A compiled list of names such as `STEERING_PATHS`: each is meant in any folder. Upper and lower case are the same. */
export class PathNames {
  readonly #root: Branch = newBranch();
  // Tested first, because few names have a pattern.
  readonly #anyWild: RegExp;

  readonly #except: PathNames | undefined;

  /** @param except single names that are not meant, although a pattern covers them */
  constructor(patterns: readonly string[], except: readonly string[] = []) {
    this.#except = except.length === 0 ? undefined : new PathNames(except);
    for (const pattern of patterns) this.#add(pattern.toLowerCase().split("/"));
    this.#anyWild = new RegExp(this.#root.wild.map(({ pattern }) => pattern.source).join("|") || "^(?!)", "s");
  }

  /** Goes from a folder, which was reached by `step`, to an entry in it. @returns `"named"` if the entry is on the list, with all below it */
  enter(step: NameStep, name: string): "named" | NameStep {
    const lower = name.toLowerCase();
    const next: Branch[] = [];
    follow(this.#root, lower, next, this.#anyWild);
    for (const branch of step) follow(branch, lower, next);
    return next.some(({ isEnd }) => isEnd) && this.#except?.has(name) !== true ? "named" : next;
  }

  /** True if a path is on the list, or below a folder that is on it. Its folders are separated by slashes. */
  has(path: string): boolean {
    return this.named(path) !== undefined;
  }

  /** Returns the part of a path, from its beginning, that is on the list; `undefined` if there is none. */
  named(path: string): string | undefined {
    let step: NameStep = [];
    const names = path.split("/");
    for (const [index, name] of names.entries()) {
      const next = this.enter(step, name);
      if (next === "named") return names.slice(0, index + 1).join("/");
      step = next;
    }
    return undefined;
  }

  #add(names: readonly string[]): void {
    let branch = this.#root;
    for (const name of names) {
      let next = name.includes("*") ? branch.wild.find(({ pattern }) => pattern.source === sourceOf(name))?.branch : branch.exact.get(name);
      if (next === undefined) {
        next = newBranch();
        if (name.includes("*")) branch.wild.push({ pattern: new RegExp(sourceOf(name), "s"), branch: next });
        else branch.exact.set(name, next);
      }
      branch = next;
    }
    branch.isEnd = true;
  }
}

function follow(from: Branch, name: string, found: Branch[], anyWild?: RegExp): void {
  const exact = from.exact.get(name);
  if (exact !== undefined) found.push(exact);
  if (from.wild.length === 0 || anyWild?.test(name) === false) return;
  for (const { pattern, branch } of from.wild) if (pattern.test(name)) found.push(branch);
}

/** A name as the source of a regular expression for the whole of it. */
function sourceOf(name: string): string {
  return `^${name.replace(/[.+?^${}()|[\]\\]/g, "\\$&").replaceAll("*", ".*")}$`;
}

function newBranch(): Branch {
  return { exact: new Map(), wild: [], isEnd: false };
}

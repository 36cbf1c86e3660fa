import { basename, dirname } from "node:path/posix";
import { VfsError } from "@keelson/protocol";
import { isIgnored, parseGitignore, type RulesOfFolder } from "./gitignore-rules.ts";
import type { SearchableFiles, WalkedEntry, WalkPlan } from "./searchable-files.ts";
import { joinPath, namesOf, pathBelow } from "./virtual-path.ts";

/** What is left when `.git` and what git ignores are left out. */
export interface Unignored {
  /** Whether this path below the start is left. */
  holds(path: string, isDir: boolean): Promise<boolean>;
}

interface FolderState {
  readonly isLeftOut: boolean;
  readonly rules: RulesOfFolder | undefined;
}

/**
 * Goes by the `.gitignore` of each folder from the root down. `start` itself was asked for, and is there whatever they
 * say of it.
 */
export function createUnignored(files: SearchableFiles, start: string, signal?: AbortSignal): Unignored {
  const known = new Map<string, Promise<FolderState>>();

  async function rulesIn(folder: string, above: RulesOfFolder | undefined): Promise<RulesOfFolder | undefined> {
    try {
      const text = Buffer.from(await files.read(joinPath(folder, ".gitignore"), signal)).toString("utf8");
      return { folder, rules: parseGitignore(text), above };
    } catch (error) {
      if (VfsError.is(error)) return above; // there is none, or none that can be read
      throw error;
    }
  }
  async function rulesAtStart(): Promise<RulesOfFolder | undefined> {
    let folder = files.root;
    let rules = await rulesIn(folder, undefined);
    // A start that is reached through another root has no folders above it that count.
    for (const name of start.startsWith(files.root) ? namesOf(`/${pathBelow(files.root, start)}`) : []) {
      if (name === "") continue;
      folder = joinPath(folder, name);
      rules = await rulesIn(folder, rules);
    }
    return rules;
  }
  async function stateOf(folder: string): Promise<FolderState> {
    if (folder === start) return { isLeftOut: false, rules: await rulesAtStart() };
    const above = await knownState(dirname(folder));
    const isLeftOut = above.isLeftOut || isLeftOutBy(above.rules, folder, true);
    return { isLeftOut, rules: isLeftOut ? undefined : await rulesIn(folder, above.rules) };
  }
  function knownState(folder: string): Promise<FolderState> {
    let state = known.get(folder);
    if (state === undefined) known.set(folder, (state = stateOf(folder)));
    return state;
  }

  return {
    async holds(path, isDir) {
      const folder = await knownState(dirname(path));
      return !folder.isLeftOut && !isLeftOutBy(folder.rules, path, isDir);
    },
  };
}

function isLeftOutBy(rules: RulesOfFolder | undefined, path: string, isDir: boolean): boolean {
  return basename(path) === ".git" || isIgnored(rules, path, isDir);
}

/** The walk of `files`, without what git would leave out. */
export async function* walkUnignored(
  files: SearchableFiles,
  start: string,
  plan: WalkPlan,
  signal?: AbortSignal,
): AsyncGenerator<WalkedEntry> {
  const unignored = createUnignored(files, start, signal);
  let isHeld = true;
  for await (const entry of files.walk(start, { ...plan, enter: (path) => isHeld && plan.enter(path) }, signal)) {
    isHeld = await unignored.holds(entry.path, entry.isDir);
    if (isHeld) yield entry;
  }
}

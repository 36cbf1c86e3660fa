import { dirname } from "node:path/posix";
import { type SearchOmission, VfsError } from "@keelson/protocol";
import { joinPath, namesOf, pathBelow } from "../files/virtual-path.ts";
import { isIgnored, parseGitignore, type RulesOfFolder } from "./gitignore-rules.ts";
import { createRepository, type Repository } from "./repository.ts";
import type { SearchableFiles, SearchFolder } from "./searchable-files.ts";

/** The rules of git that hold in a folder. */
export interface GitState {
  readonly rules: RulesOfFolder | undefined;
  readonly repository: Repository | undefined;
  /** True in a folder that is ignored, of which only tracked files are listed. */
  readonly onlyTracked: boolean;
}

/** Decides what is listed as git does: the files of its index, and the others that no rule ignores. */
export interface GitListing {
  /** Returns the state in a folder that was opened. @param above the state in the folder that holds it; absent: the search starts here */
  enter(folder: SearchFolder, above?: GitState): Promise<GitState>;
  /** `tracked`: listed although a rule ignores it. */
  decide(state: GitState, path: string, isDir: boolean): Promise<"listed" | "tracked" | "ignored">;
}

const NO_STATE: GitState = { rules: undefined, repository: undefined, onlyTracked: false };

export function createGitListing(files: SearchableFiles, omit: (omission: SearchOmission) => void, signal?: AbortSignal): GitListing {
  /** Returns the rules of a `.gitignore`. */
  async function readRules(folder: SearchFolder, above: RulesOfFolder | undefined): Promise<RulesOfFolder | undefined> {
    try {
      const bytes = await folder.read(".gitignore", signal);
      const text = bytes === "large" ? await folder.readWhole(".gitignore", signal) : bytes;
      return { folder: folder.path, rules: parseGitignore(Buffer.from(text).toString("utf8")), above };
    } catch (error) {
      if (!VfsError.is(error)) throw error;
      const message = "These rules could not be read, so files that they ignore are not left out.";
      if (!VfsError.is(error, "not-found"))
        omit({ path: joinPath(folder.path, ".gitignore"), isDir: false, reason: "unreadable", message });
      return above;
    }
  }
  async function enterRepository(folder: string, isInside: boolean): Promise<GitState> {
    const repository = createRepository(files, folder, isInside, omit);
    const rules = await repository.readExclude();
    return { repository, rules: rules && { folder, rules, above: undefined }, onlyTracked: false };
  }
  /** Returns the state above a root that is a folder of a repository. */
  async function stateAbove(root: string): Promise<GitState> {
    const read = files.readOutside;
    if (read === undefined || root === "/") return NO_STATE;
    for (let top = dirname(root); ; top = dirname(top)) {
      if (read(joinPath(top, ".git/HEAD")) !== undefined || read(joinPath(top, ".git")) !== undefined) {
        const state = await enterRepository(top, false);
        let { rules } = state;
        for (let folder = top; folder !== root; folder = joinPath(folder, namesOf(`/${pathBelow(folder, root)}`)[0] as string)) {
          const text = read(joinPath(folder, ".gitignore"));
          if (text !== undefined) rules = { folder, rules: parseGitignore(Buffer.from(text).toString("utf8")), above: rules };
        }
        return { ...state, rules };
      }
      if (top === "/") return NO_STATE;
    }
  }
  /** Returns the state in the folder that holds the start of a search. */
  async function stateAt(folder: string): Promise<GitState> {
    const root = files.rootOf(folder);
    const open = await openReadable(files, folder);
    try {
      const isTop = open !== undefined && isRepository(open);
      const above = isTop ? NO_STATE : folder === root ? await stateAbove(root) : await stateAt(dirname(folder));
      return open === undefined ? above : await enterFrom(open, above);
    } finally {
      open?.close();
    }
  }
  async function enterFrom(folder: SearchFolder, above: GitState): Promise<GitState> {
    const state = isRepository(folder) ? await enterRepository(folder.path, true) : above;
    const hasRules = folder.entries.some(({ name, kind }) => name === ".gitignore" && kind === "file");
    return hasRules ? { ...state, rules: await readRules(folder, state.rules) } : state;
  }

  return {
    async enter(folder, above) {
      // A search may start in an ignored folder.
      return above === undefined ? { ...(await stateAt(folder.path)), onlyTracked: false } : enterFrom(folder, above);
    },
    async decide(state, path, isDir) {
      if (!state.onlyTracked && !isIgnored(state.rules, path, isDir)) return "listed";
      if (state.repository === undefined) return "ignored";
      return (await state.repository.tracks(path, isDir)) ? "tracked" : "ignored";
    },
  };
}

/** @returns `undefined` if a folder above the start of a search cannot be listed */
async function openReadable(files: SearchableFiles, folder: string): Promise<SearchFolder | undefined> {
  try {
    return await files.openFolder(folder);
  } catch (error) {
    if (VfsError.is(error)) return undefined;
    throw error;
  }
}

function isRepository(folder: SearchFolder): boolean {
  return folder.entries.some(({ name }) => name === ".git");
}

import { mainFolderOf } from "../worktrees/linked-worktree.ts";
import { ownWorktreeAt } from "../worktrees/own-worktrees.ts";
import { readBranch } from "./git-state.ts";
import { type EventLog, sessionLog, sessionOf, type SessionId } from "@keelson/protocol";

// The folder in which a session works is a tag, so that it is in the session's first record and is found without reading more.
const PREFIX = "folder:";
const WORKTREE_PREFIX = "worktree:";
const BRANCH_PREFIX = "branch:";
const LOG_PREFIX = "session/";

export function folderTag(folder: string): string {
  return `${PREFIX}${folder}`;
}

/**
 * Returns the tags of a session that begins in a folder: the folder, and the git branch that is checked out there. One in a worktree of Keelson is
 * also found from its folder in the first worktree.
 * @param home the folder of Keelson
 */
export function folderTags(folder: string, home: string): readonly string[] {
  const own = ownWorktreeAt(folder, home);
  const branch = readBranch(folder);
  return [
    folderTag(folder),
    ...(own === undefined ? [] : [folderTag(mainFolderOf(folder)), `${WORKTREE_PREFIX}${own.name}`]),
    ...(branch === undefined ? [] : [`${BRANCH_PREFIX}${branch}`]),
  ];
}

/** Returns the folder in which a session works, by its tags. */
export function folderOfTags(tags: readonly string[]): string | undefined {
  return tags.find((tag) => tag.startsWith(PREFIX))?.slice(PREFIX.length);
}

/** Returns the name of the worktree in which a session works. `undefined`: it is not in one of Keelson. */
export function worktreeOfTags(tags: readonly string[]): string | undefined {
  return tags.find((tag) => tag.startsWith(WORKTREE_PREFIX))?.slice(WORKTREE_PREFIX.length);
}

/** Returns the git branch on which a session began; of a fork, that on which the fork began. `undefined`: it is not recorded. */
export function branchOfTags(tags: readonly string[]): string | undefined {
  return tags.findLast((tag) => tag.startsWith(BRANCH_PREFIX))?.slice(BRANCH_PREFIX.length);
}

/** The tags that people gave. */
export function ownTags(tags: readonly string[]): readonly string[] {
  return tags.filter((tag) => ![PREFIX, WORKTREE_PREFIX, BRANCH_PREFIX].some((prefix) => tag.startsWith(prefix)));
}

export function isOfFolder(tags: readonly string[], folder: string): boolean {
  return tags.includes(folderTag(folder));
}

/**
 * The session of this folder that was written to last.
 * @param fits false for one that is passed over
 */
export async function newestSession(
  log: EventLog,
  folder: string,
  fits: (id: SessionId, tags: readonly string[]) => Promise<boolean> = async () => true,
): Promise<SessionId | undefined> {
  const sessions = (await sessionIds(log)).toSorted((a, b) => b.updatedAt - a.updatedAt);
  for (const { id } of sessions) {
    const tags = await firstTags(log, id);
    if (isOfFolder(tags, folder) && (await fits(id as SessionId, tags))) return id as SessionId;
  }
  return undefined;
}

/** The sessions whose ids begin so. */
export async function sessionIds(log: EventLog, beginning = ""): Promise<readonly { readonly id: string; readonly updatedAt: number }[]> {
  const found: { readonly id: string; readonly updatedAt: number }[] = [];
  let after: string | undefined;
  for (;;) {
    const page = await log.list({ prefix: LOG_PREFIX + beginning, limit: 500, ...(after !== undefined && { after }) });
    // The sessions of child runs (their ids hold a "~") are nobody's to go on with.
    for (const { log: name, updatedAt } of page) {
      const id = sessionOf(name);
      if (id !== undefined && !id.includes("~")) found.push({ id, updatedAt });
    }
    after = page.at(-1)?.log;
    if (page.length < 500) return found;
  }
}

/** The tags a session was created with; a fork has those of its parent. */
export async function firstTags(log: EventLog, session: string): Promise<readonly string[]> {
  for await (const { data } of log.read(sessionLog(session))) {
    const { tags, parent } = data as { readonly tags?: readonly string[]; readonly parent?: { readonly session: string } };
    if (Array.isArray(tags)) return tags as readonly string[];
    return parent === undefined ? [] : firstTags(log, parent.session);
  }
  return [];
}

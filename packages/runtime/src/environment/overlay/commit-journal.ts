import { constants } from "node:fs";
import { chmod, copyFile, link, mkdir, open, readFile, rename, rmdir, symlink, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { VfsError } from "@keelson/protocol";
import { isDeadOwner, processOwner } from "../../platform/process-owner.ts";
import { openDirectory } from "../files/anchored-directory.ts";
import { withPathLock } from "../files/path-lock.ts";
import { systemCode, vfsErrorFrom } from "../files/vfs-error-from.ts";
import { ancestors, parentOf, statsInBase, statsOf } from "./base-states.ts";
import {
  COMMIT_FOLDER,
  type CommitFolder,
  commitFoldersIn,
  isJournalOf,
  makeCommitFolder,
  noteOf,
  newJournal,
  openCommitFolder,
  passingName,
  removeCommitFolder,
  writeSynced,
} from "./commit-folder.ts";
import type { PlannedChange } from "./planned-change.ts";

const WAIT_MS = 30_000;
const LOOK_MS = 20;
// One without an owner is being removed, or was when its process ended.
const NAMELESS_MS = 2000;
const PARALLEL_COPIES = 16;

/** One act on the base. `was` is what has to stand there for it: its inode and size, or nothing. */
type Act =
  | { readonly act: "remove"; readonly path: string; readonly was: Seen }
  | { readonly act: "remove-folder"; readonly path: string; readonly mode: number }
  | { readonly act: "make-folder"; readonly path: string; readonly mode: number }
  | { readonly act: "set-mode"; readonly path: string; readonly mode: number; readonly before: number }
  | { readonly act: "place"; readonly path: string; readonly was: Seen | null };
interface Seen {
  readonly inode: number;
  readonly size: number;
}
interface Journal {
  readonly base: string;
  readonly acts: readonly Act[];
}

/**
 * Runs `work` while no other commit to this base is under way, here or in another process. One that was cut off is finished first.
 * @param store where it is written what is to be done: nobody who works in the base may write there
 */
export async function withBase<T>(
  base: string,
  store: string,
  work: (commit: (changes: readonly PlannedChange[]) => Promise<void>) => Promise<T>,
): Promise<T> {
  return withPathLock([join(base, COMMIT_FOLDER)], async () => {
    const folder = await take(base, store);
    try {
      return await work((changes) => carryOut(base, folder, changes));
    } finally {
      await folder[Symbol.asyncDispose]();
      await removeCommitFolder(base, COMMIT_FOLDER);
    }
  });
}

/** Finishes a commit whose process ended in the middle of it. */
export async function finishCommit(base: string, store: string): Promise<void> {
  if ((await commitFoldersIn(base)).length > 0) await withBase(base, store, async () => {});
}

/** Makes the folder, which one process at a time can have, and finishes what others left. */
async function take(base: string, store: string): Promise<CommitFolder> {
  const [path, journal] = [join(base, COMMIT_FOLDER), newJournal(store)];
  let name = passingName();
  let folder: CommitFolder | undefined;
  try {
    await makeCommitFolder(base, name, journal, processOwner());
    for (let waited = 0; ; waited += LOOK_MS) {
      try {
        // One with something in it is not replaced.
        await rename(join(base, name), path);
        name = COMMIT_FOLDER;
        break;
      } catch (error) {
        if (systemCode(error) !== "ENOTEMPTY" && systemCode(error) !== "EEXIST") throw error;
      }
      const owner = await noteOf(base, COMMIT_FOLDER, "owner");
      if (owner === undefined ? waited > NAMELESS_MS : isDeadOwner(owner))
        await rename(path, join(base, passingName())).catch(ignore("ENOENT"));
      else if (waited >= WAIT_MS)
        throw new VfsError({
          kind: "operation-denied",
          path,
          message: `Another commit to ${base} is under way (${path} belongs to ${owner}). Try again later.`,
        });
      else await sleep(LOOK_MS);
    }
    folder = await openCommitFolder(base, name, journal);
    for (const left of await commitFoldersIn(base)) {
      const owner = left === COMMIT_FOLDER ? undefined : await noteOf(base, left, "owner");
      if (owner !== undefined && isDeadOwner(owner)) await finish(base, left, store);
    }
    return folder;
  } catch (error) {
    await folder?.[Symbol.asyncDispose]();
    await removeCommitFolder(base, name).catch(() => {}); // the first error says why
    throw vfsErrorFrom(error, path);
  }
}

/** Of a process that is gone: what was decided is done, what was not is forgotten. */
async function finish(base: string, name: string, store: string): Promise<void> {
  const journal = await noteOf(base, name, "journal");
  const acts = journal === undefined ? undefined : await decidedActs(base, name, store, journal);
  if (journal !== undefined && acts !== undefined) {
    await using folder = await openCommitFolder(base, name, journal);
    for (const [number, act] of acts.entries()) await perform(base, folder, number, act, true);
    await unlink(journal);
  }
  await removeCommitFolder(base, name);
}

/** Only what stands in the store is believed: anyone who works in the base could have made the folder there. */
async function decidedActs(base: string, name: string, store: string, journal: string): Promise<readonly Act[] | undefined> {
  if (isJournalOf(store, journal)) {
    const text = await readFile(journal, "utf8").catch(ignore("ENOENT"));
    const decided = text === undefined ? undefined : (JSON.parse(text) as Journal);
    return decided?.base === base ? decided.acts : undefined;
  }
  if ((await statsOf(journal)) === undefined) return undefined;
  throw new VfsError({
    kind: "operation-denied",
    path: join(base, name),
    message: `${join(base, name)} is of a commit from another store that was cut off (${journal}). Open an overlay of ${base} with that store, which finishes it; or remove the folder, if no commit of yours made it.`,
  });
}

async function carryOut(base: string, folder: CommitFolder, changes: readonly PlannedChange[]): Promise<void> {
  const acts = await actsOf(base, changes);
  const contents = new Map(changes.map((change) => [change.path, change.becomes]));
  const staged = acts.flatMap((act, number) => (act.act === "place" ? [{ number, content: contents.get(act.path) }] : []));
  try {
    for (let from = 0; from < staged.length; from += PARALLEL_COPIES)
      await Promise.all(staged.slice(from, from + PARALLEL_COPIES).map(({ number, content }) => stage(folder.staged(number), content)));
    // From here on it is decided.
    const draft = `${folder.journal}.draft`;
    await writeSynced(draft, JSON.stringify({ base, acts } satisfies Journal));
    await rename(draft, folder.journal);
  } catch (error) {
    throw vfsErrorFrom(error, base);
  }
  let done = 0;
  try {
    for (const [number, act] of acts.entries()) {
      await perform(base, folder, number, act, false);
      done = number + 1;
    }
    await unlink(folder.journal);
  } catch (error) {
    for (let number = done - 1; number >= 0; number--) await takeBack(base, folder, number, acts[number] as Act);
    await unlink(folder.journal);
    throw vfsErrorFrom(error, join(base, acts[done]?.path ?? ""));
  }
}

/** What is removed goes first, from below; then folders are made and files placed, from above. */
async function actsOf(base: string, changes: readonly PlannedChange[]): Promise<Act[]> {
  const removals: Act[] = [];
  const placements: Act[] = [];
  const made = new Set<string>();
  for (const { path, was, becomes } of changes) {
    // What is found all the same is behind a link that gives way to a folder, or came to be since then.
    const stats = was.type === "absent" ? undefined : await statsInBase(base, path);
    const seen = stats === undefined ? null : { inode: stats.ino, size: stats.size };
    const goes = becomes.type === "absent" || (was.type === "folder") !== (becomes.type === "folder");
    if (goes && was.type === "folder") removals.unshift({ act: "remove-folder", path, mode: was.mode });
    else if (goes && seen !== null) removals.unshift({ act: "remove", path, was: seen });
    if (becomes.type === "absent") continue;
    for (const above of ancestors(path))
      if (!made.has(above) && (made.has(parentOf(above)) || (await statsInBase(base, above)) === undefined)) {
        made.add(above);
        placements.push({ act: "make-folder", path: above, mode: 0o777 & ~process.umask() });
      }
    if (becomes.type !== "folder") placements.push({ act: "place", path, was: goes ? null : seen });
    else if (was.type === "folder") placements.push({ act: "set-mode", path, mode: becomes.mode, before: was.mode });
    else {
      made.add(path);
      placements.push({ act: "make-folder", path, mode: becomes.mode });
    }
  }
  return [...removals, ...placements];
}

/** @param isRepeated it may have been done already: by a process that was cut off */
async function perform(base: string, folder: CommitFolder, number: number, act: Act, isRepeated: boolean): Promise<void> {
  const real = join(base, act.path);
  const [staged, old] = [folder.staged(number), folder.old(number)];
  try {
    await using parent = await openDirectory(dirname(real), base);
    const location = parent.at(basename(real));
    switch (act.act) {
      case "remove":
        if (isRepeated && !(await isSeen(location, act.was))) return;
        await requireSeen(location, real, act.was);
        return await rename(location, old);
      case "remove-folder":
        return await rmdir(location);
      case "make-folder":
        await mkdir(location);
        return await chmod(location, act.mode);
      case "set-mode":
        return await chmod(location, act.mode);
      case "place":
        if (isRepeated && ((await statsOf(staged)) === undefined || !(await isSeen(location, act.was)))) return;
        await requireSeen(location, real, act.was);
        // A second name first, so that there is always a file at the path.
        if (act.was !== null) await link(location, old).catch(ignore("EEXIST", "EPERM", "EMLINK", "ENOTSUP", "EOPNOTSUPP"));
        return await rename(staged, location);
    }
  } catch (error) {
    // Somebody else changed it after the process was gone: theirs stays, and the overlay still has its own.
    if (!isRepeated) throw error;
  }
}

async function takeBack(base: string, folder: CommitFolder, number: number, act: Act): Promise<void> {
  const real = join(base, act.path);
  const [staged, old] = [folder.staged(number), folder.old(number)];
  await using parent = await openDirectory(dirname(real), base);
  const location = parent.at(basename(real));
  switch (act.act) {
    case "remove":
      return await rename(old, location).catch(ignore("ENOENT"));
    case "remove-folder":
      return await mkdir(location, { mode: act.mode }).then(() => {}, ignore("EEXIST"));
    case "make-folder":
      return await rmdir(location).catch(ignore("ENOENT", "ENOTEMPTY"));
    case "set-mode":
      return await chmod(location, act.before).catch(ignore("ENOENT"));
    case "place":
      if ((await statsOf(staged)) !== undefined) return;
      return await (act.was === null ? unlink(location).catch(ignore("ENOENT")) : rename(old, location).catch(ignore("ENOENT")));
  }
}

async function stage(location: string, content: PlannedChange["becomes"] | undefined): Promise<void> {
  if (content?.type === "link") return symlink(content.target, location);
  if (content?.type !== "file") return;
  if ("text" in content.content) await writeSynced(location, content.content.text);
  else {
    await copyFile(content.content.location, location, constants.COPYFILE_FICLONE);
    const file = await open(location, "r");
    try {
      await file.sync();
    } finally {
      await file.close();
    }
  }
  await chmod(location, content.mode);
}

async function isSeen(location: string, was: Seen | null): Promise<boolean> {
  const stats = await statsOf(location);
  return was === null ? stats === undefined : stats?.ino === was.inode && stats.size === was.size;
}

async function requireSeen(location: string, path: string, was: Seen | null): Promise<void> {
  if (!(await isSeen(location, was)))
    throw new VfsError({
      kind: "conflict",
      path,
      message: `${path} changed while it was being committed. Nothing was committed; try again.`,
    });
}

function ignore(...codes: readonly string[]): (error: unknown) => undefined {
  return (error) => {
    if (!codes.includes(systemCode(error) ?? "")) throw error;
    return undefined;
  };
}

import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { mkdir, open, readdir } from "node:fs/promises";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { openChild, openDirectory } from "../files/anchored-directory.ts";
import { removeTree } from "../files/remove-tree.ts";
import { atEntry, readOriginal } from "./anchored-entry.ts";

/** The folder of a commit under way, in the base, so that what is in it is put in place by renaming. */
export const COMMIT_FOLDER = ".keelson-commit";

/**
 * What a commit keeps in the base. Whoever works in the base can write there, too: so it is reached through folders held open, and what is
 * to be done stands in the store, where they can't.
 */
export interface CommitFolder extends AsyncDisposable {
  /** File in the store that says what is to be done, from when that is decided until it is done. */
  readonly journal: string;
  /** Where the content of an act waits. */
  staged(act: number): string;
  /** Where what stood there before is kept. */
  old(act: number): string;
}

const NOTES = { owner: "owner", journal: "journal" } as const;
const JOURNAL = /^commit-[\da-f]{12}\.json$/;

/** A name for a folder of a commit that has not begun, or is over. */
export function passingName(): string {
  return `${COMMIT_FOLDER}-${randomBytes(6).toString("hex")}`;
}

/** Where the journal of a new commit is to be. */
export function newJournal(store: string): string {
  return join(store, `commit-${randomBytes(6).toString("hex")}.json`);
}

export async function makeCommitFolder(base: string, name: string, journal: string, owner: string): Promise<void> {
  await using root = await openDirectory(base, base);
  await mkdir(root.at(name), { mode: 0o700 });
  await using folder = await openChild(root, name, base);
  for (const inner of ["new", "old"]) await mkdir(folder.at(inner));
  // The owner last: before that nobody takes it for one that was left behind.
  await writeSynced(folder.at(NOTES.journal), journal);
  await writeSynced(folder.at(NOTES.owner), owner);
}

/** Whether it is a journal as the commits of this store write them. */
export function isJournalOf(store: string, journal: string): boolean {
  return journal.startsWith(`${store}/`) && JOURNAL.test(journal.slice(store.length + 1));
}

export async function openCommitFolder(base: string, name: string, journal: string): Promise<CommitFolder> {
  await using folder = await openDirectory(join(base, name), base);
  const staged = await openChild(folder, "new", base);
  try {
    const old = await openChild(folder, "old", base);
    return {
      journal,
      staged: (act) => staged.at(String(act)),
      old: (act) => old.at(String(act)),
      async [Symbol.asyncDispose]() {
        await staged[Symbol.asyncDispose]();
        await old[Symbol.asyncDispose]();
      },
    };
  } catch (error) {
    await staged[Symbol.asyncDispose]();
    throw error;
  }
}

/** What a commit says of itself; `undefined` where it says nothing, as while it is being removed. */
export async function noteOf(base: string, name: string, note: keyof typeof NOTES): Promise<string | undefined> {
  const read = async (location: string): Promise<string> => (await buffer(await readOriginal(location))).toString("utf8");
  return atEntry(base, join(base, name, NOTES[note]), read).catch(() => undefined);
}

/** Names of the folders of commits in the base. */
export async function commitFoldersIn(base: string): Promise<string[]> {
  return (await readdir(base)).filter((name) => name.startsWith(COMMIT_FOLDER));
}

export async function removeCommitFolder(base: string, name: string): Promise<void> {
  await using root = await openDirectory(base, base);
  await removeTree(root, name, true, base);
}

/** Makes a file; on the disk when this resolves. */
export async function writeSynced(location: string, text: string): Promise<void> {
  const file = await open(location, constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY | constants.O_NOFOLLOW, 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

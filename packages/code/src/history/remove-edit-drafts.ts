import { lstatSync, readdirSync, rmSync } from "node:fs";
import { isTemporaryName } from "keelson/environment";
import { foldJournal } from "./fold-journal.ts";
import { hasRealFolder } from "./match-state.ts";
import { BEAT_GRACE_MS, type OpenStep } from "./open-steps.ts";
import type { ProjectStore } from "./project-store.ts";
import { folderOf, NAME_ENCODING, systemPath } from "./system-path.ts";

/**
 * Removes what an edit of a killed process had written beside its files and had not put in its place. A file that was written after the last sign of
 * life of that process belongs to another one, and stays. So does one in a folder that may not be read or changed: the recovery must come to its end.
 */
export function removeEditDrafts(store: ProjectStore, open: OpenStep): void {
  const step = foldJournal(store.journal(open.session).read()).steps.find(({ id }) => id === open.id);
  const diedAt = store.open.lastBeat(open.id) + BEAT_GRACE_MS;
  const real = step?.edits.filter(({ path }) => hasRealFolder(path, store.tops)) ?? [];
  for (const folder of new Set(real.map(({ path }) => folderOf(path)))) {
    try {
      removeDraftsIn(folder, diedAt);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    }
  }
}

function removeDraftsIn(folder: string, diedAt: number): void {
  for (const name of readdirSync(systemPath(folder), { encoding: NAME_ENCODING })) {
    const path = `${folder}/${name}`;
    if (isTemporaryName(name) && isFileBefore(path, diedAt)) rmSync(systemPath(path), { force: true });
  }
}

function isFileBefore(path: string, time: number): boolean {
  const stats = lstatSync(systemPath(path), { throwIfNoEntry: false });
  return stats?.isFile() === true && stats.ctimeMs <= time;
}

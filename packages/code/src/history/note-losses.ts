import { lstatSync } from "node:fs";
import { lossNote } from "./compare-trees.ts";
import { type FileStamp, sameStamp, stampOf } from "./file-stamp.ts";
import type { Uncovered } from "./find-uncovered.ts";
import type { HistoryNote } from "./history-note.ts";
import { systemPath } from "./system-path.ts";

/** The files that a command may destroy, as they were before. */
export type StampedLosses = readonly (Uncovered & { readonly stamp: FileStamp | undefined })[];

export function stampLosses(uncovered: readonly Uncovered[]): StampedLosses {
  return uncovered.map((one) => ({ ...one, stamp: stampAt(one.path) }));
}

/** Describes the losses among these files. */
export function noteLosses(root: string, losses: StampedLosses): readonly HistoryNote[] {
  return losses.flatMap(({ path, reason, stamp }) => {
    const now = stampAt(path);
    if (stamp === undefined || (now !== undefined && sameStamp(now, stamp))) return [];
    return [lossNote(root, { path, what: now === undefined ? "was deleted" : "was changed", reason })];
  });
}

function stampAt(path: string): FileStamp | undefined {
  try {
    const stats = lstatSync(systemPath(path), { throwIfNoEntry: false });
    return stats && stampOf(stats);
  } catch {
    return undefined;
  }
}

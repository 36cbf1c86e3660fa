import { type Change, sameState } from "./file-state.ts";
import type { HistoryLimits } from "./history-limits.ts";
import { type HistoryNote, skipReason, unkeptReason } from "./history-note.ts";
import { folderOf, isWithin, textPath } from "./system-path.ts";
import type { TreeIndex } from "./tree-index.ts";

/** Finds the changes between two snapshots of a project, and what of them cannot be undone. */
export function compareTrees(
  before: TreeIndex | undefined,
  after: TreeIndex,
  root: string,
  limits: HistoryLimits,
): { readonly changes: readonly Change[]; readonly notes: readonly HistoryNote[] } {
  if (before === undefined) return { changes: [], notes: [] };
  const changes: Change[] = [];
  const notes: HistoryNote[] = [];
  const note = (path: string, what: LossKind, reason: string): void => {
    notes.push(lossNote(root, { path, what, reason }));
  };
  for (const [path, { state }] of after.entries) {
    const known = before.entries.get(path)?.state;
    if (known === undefined) {
      if (state.type !== "skipped" && state.type !== "other" && isCreation(path, before, root))
        changes.push({ path, before: undefined, after: state });
    } else if (known.type !== "skipped" && state.type !== "skipped" && !sameState(known, state)) {
      changes.push({ path, before: known, after: state });
      if (known.type === "unkept") note(path, "was changed", unkeptReason(known.reason, limits));
    }
  }
  for (const [path, { state }] of before.entries) {
    if (after.entries.has(path) || before.objects.has(path)) continue;
    if (state.type === "skipped") note(path, "was deleted", skipReason(state.reason));
    else if (state.type === "other") note(path, "was deleted", "it is a pipe, socket or device");
    else changes.push({ path, before: state, after: undefined });
    if (state.type === "unkept") note(path, "was deleted", unkeptReason(state.reason, limits));
  }
  let isLost = false;
  for (const [path, { size, key }] of before.objects) {
    if (after.objects.has(path)) continue;
    if (key !== undefined) changes.push({ path, before: { type: "object", size, key }, after: undefined });
    else isLost = true;
  }
  if (isLost)
    notes.push({ key: "objects", text: `Objects of git were deleted and cannot be brought back: ${unkeptReason("other-disk", limits)}.` });
  for (const [path, { size, key }] of after.objects) {
    // New objects of a repository that was there do no harm, and other changes may need them.
    if (before.objects.has(path) || key === undefined || before.objectFolders.some((folder) => isWithin(path, folder))) continue;
    if (isCreation(path, before, root)) changes.push({ path, before: undefined, after: { type: "object", size, key } });
  }
  return { changes, notes };
}

type LossKind = "was changed" | "was deleted";

/** Says that something happened to a file that cannot be undone. */
export function lossNote(
  root: string,
  { path, what, reason }: { readonly path: string; readonly what: LossKind; readonly reason: string },
): HistoryNote {
  const text = `${shownIn(root, path)} ${what} and cannot be undone: ${reason}.`;
  return { key: `${path} ${what}`, text, ...(what === "was deleted" && { isEvent: true }) };
}

/** Returns a path relative to the root, or absolute if it is outside. */
export function shownIn(root: string, path: string): string {
  return textPath(path === root ? "." : isWithin(path, root) ? path.slice(root === "/" ? 1 : root.length + 1) : path);
}

/** True if nothing was there before. An entry of a folder that was not wholly covered may have been there. */
function isCreation(path: string, before: TreeIndex, root: string): boolean {
  if (before.objectFolders.some((folder) => isWithin(path, folder))) return false;
  for (let folder = folderOf(path); folder !== ""; folder = folderOf(folder)) {
    const known = before.entries.get(folder);
    if (known !== undefined) return known.state.type === "folder" ? known.isPartial !== true : known.state.type !== "skipped";
  }
  return isWithin(path, root) && !before.entries.has(root);
}

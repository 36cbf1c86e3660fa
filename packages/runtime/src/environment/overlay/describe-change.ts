import { buffer } from "node:stream/consumers";
import { readOriginal, unlessReplaced } from "./anchored-entry.ts";
import type { BaseStates } from "./base-states.ts";
import { type LineMerger, textOf, unifiedDiff } from "./merge-lines.ts";
import type { OverlayChange } from "./overlay.ts";
import type { OverlayLayer } from "./overlay-layer.ts";
import type { Change, WorkspaceEntry } from "./overlay-changes.ts";

// Of larger files no text is shown.
const MAX_SHOWN_BYTES = 64 * 1024 * 1024;

/** @param merger shows texts, where they are asked for */
export async function describeChange(
  { path, before, now }: Change,
  layer: OverlayLayer,
  states: BaseStates,
  merger: LineMerger | undefined,
): Promise<OverlayChange> {
  const change = before.type === "absent" ? "added" : now.type === "absent" ? "deleted" : "changed";
  const type = now.type !== "absent" ? now.type : before.type === "absent" || before.type === "unknown" ? "other" : before.type;
  if (merger === undefined) return { path, change, type };
  const old = before.type === "file" ? await states.originalOf(before).then((bytes) => bytes && textOf(bytes)) : undefined;
  const changed = await textAt(layer, path, now);
  const isShown =
    (now.type === "file" ? changed !== undefined : now.type === "absent") &&
    (before.type === "file" ? old !== undefined : before.type === "absent");
  return isShown ? { path, change, type, text: unifiedDiff(merger, path, old, changed) } : { path, change, type };
}

async function textAt(layer: OverlayLayer, path: string, entry: WorkspaceEntry): Promise<string | undefined> {
  if (entry.type !== "file" || entry.size > MAX_SHOWN_BYTES) return undefined;
  return layer.reach(path, async (location) => {
    const bytes = await unlessReplaced(readOriginal(location).then(buffer));
    return bytes && textOf(bytes);
  });
}

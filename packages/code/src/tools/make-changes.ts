import { type Vfs, VfsError } from "@keelson/protocol";
import type { ChangingCall, FileChanges } from "../workspace/file-changes.ts";
import { requireChangeable } from "../workspace/require-changeable.ts";
import { toolFailure } from "./call-files.ts";

/** A change of one file that is to be made with others. Paths are as the model gave them. */
export type PlannedChange =
  | { readonly kind: "write"; readonly path: string; readonly before: Uint8Array | null; readonly after: Uint8Array }
  | { readonly kind: "delete"; readonly path: string; readonly before: Uint8Array }
  | { readonly kind: "move"; readonly path: string; readonly to: string; readonly before: Uint8Array; readonly after: Uint8Array };

// The changes are undone even if the call was cancelled.
const UNDO_MS = 10_000;

/**
 * Makes several changes, or none: what can be refused is refused before the first one. If one fails later, those before it are undone, and the error
 * says so.
 */
export async function makeChanges(
  tool: string,
  planned: readonly PlannedChange[],
  { files, changes, call }: { readonly files: Vfs; readonly changes: FileChanges; readonly call: ChangingCall },
): Promise<void> {
  for (const change of planned) {
    if (change.kind !== "write") await requireChangeable(files, change.path, "remove", call.signal);
    if (change.kind !== "delete" && change.before !== null && isRewritten(change))
      await requireChangeable(files, change.path, "write", call.signal);
  }
  const made: PlannedChange[] = [];
  for (const change of planned) {
    try {
      await makeChange(change, changes, call, made);
    } catch (error) {
      if (made.length === 0) throw error;
      const left = await takeBack(made, changes, { ...call, signal: AbortSignal.timeout(UNDO_MS) });
      const what = error instanceof Error ? error.message : String(error);
      const state =
        left.length === 0
          ? "The changes before it were taken back, so that nothing was changed."
          : `These changes were made and could not be taken back: ${left.join(", ")}.`;
      throw toolFailure(tool, `${change.path} could not be changed: ${what} ${state}`, error);
    }
  }
}

function isRewritten(change: Exclude<PlannedChange, { readonly kind: "delete" }>): boolean {
  return change.before === null || Buffer.compare(change.before, change.after) !== 0;
}

async function makeChange(change: PlannedChange, changes: FileChanges, call: ChangingCall, made: PlannedChange[]): Promise<void> {
  switch (change.kind) {
    case "write":
      await changes.write(change.path, change.after, call, { ifUnchanged: change.before });
      made.push(change);
      return;
    case "delete":
      await changes.delete(change.path, call, { ifUnchanged: change.before });
      made.push(change);
      return;
    case "move":
      await changes.move(change.path, change.to, call, { ifUnchanged: change.before });
      made.push({ ...change, after: change.before });
      if (!isRewritten(change)) return;
      await changes.write(change.to, change.after, call, { ifUnchanged: change.before });
      made[made.length - 1] = change;
  }
}

/** @returns the changes that could not be undone, a phrase each */
async function takeBack(made: readonly PlannedChange[], changes: FileChanges, call: ChangingCall): Promise<readonly string[]> {
  const left: string[] = [];
  for (const change of made.toReversed()) {
    try {
      if (change.kind === "delete") await changes.write(change.path, change.before, call, { ifUnchanged: null });
      else if (change.kind === "write" && change.before === null) await changes.delete(change.path, call, { ifUnchanged: change.after });
      else if (change.kind === "write") await changes.write(change.path, change.before as Uint8Array, call, { ifUnchanged: change.after });
      else {
        if (isRewritten(change)) await changes.write(change.to, change.before, call, { ifUnchanged: change.after });
        await changes.move(change.to, change.path, call, { ifUnchanged: change.before });
      }
    } catch (error) {
      if (!VfsError.is(error)) throw error;
      left.push(`${change.kind} ${change.path}`);
    }
  }
  return left;
}

import type { Vfs } from "@keelson/protocol";
import { readEditable } from "../edits/editable-text.ts";
import { describeNearest, namedLines } from "../edits/explain-failure.ts";
import type { FilePatch, Hunk } from "../edits/file-patch.ts";
import { searchedText } from "../edits/place-edit.ts";
import { type HunksPlacement, placeHunks } from "../edits/place-hunks.ts";
import { requireChangeable } from "../workspace/require-changeable.ts";
import { explainMissing } from "./explain-missing.ts";
import type { PlannedChange } from "./make-changes.ts";
import { readExisting } from "./read-existing.ts";
import { realPath, shownPath, toolFailure } from "./call-files.ts";

/** The changes that a patch makes, and notes for the model, by file. */
export interface PatchPlan {
  readonly changes: readonly PlannedChange[];
  readonly notes: readonly string[];
}

interface FileState {
  readonly path: string;
  readonly before: Uint8Array | null;
  now: Uint8Array | null;
  movedTo: string | undefined;
}

/** Places a patch on the files as they are. Changes nothing. @throws ToolError that says which file and which hunk does not fit, and what is there */
export async function planPatch(patches: readonly FilePatch[], files: Vfs, signal: AbortSignal): Promise<PatchPlan> {
  const states = new Map<string, FileState>();
  const notes: string[] = [];
  const stateOf = async (path: string): Promise<FileState> => {
    const real = await realPath(files, path);
    let state = states.get(real);
    if (state === undefined) {
      const before = (await readExisting(files, path, signal)) ?? null;
      states.set(real, (state = { path, before, now: before, movedTo: undefined }));
    }
    if (state.movedTo !== undefined) throw fail(`${path} is moved to ${state.movedTo}, and named again. Give each file one section.`);
    return state;
  };
  for (const patch of patches) {
    const shown = shownPath(files, patch.path);
    const state = await stateOf(patch.path);
    if (patch.kind === "add") {
      if (state.now !== null)
        throw fail(`${shown} exists already; the patch would make it. Update it, or delete it first. Nothing was changed.`);
      state.now = Buffer.from(patch.content, "utf8");
      continue;
    }
    const content =
      state.now ?? (await explainMissing(files, patch.path, signal, async () => (await files.read(patch.path, { signal })).content));
    // Under another name of the file, such as a link, it would be the file that goes.
    if (state.before !== null && (patch.kind === "delete" || patch.moveTo !== undefined))
      await requireChangeable(files, patch.path, "remove", signal);
    if (patch.kind === "delete") {
      if (patch.lines !== undefined && !hasLines(content, patch.lines))
        throw fail(`${shown} has other lines than the patch deletes. Read it again; nothing was changed.`);
      state.now = null;
      continue;
    }
    const patched = patchContent(shown, content, patch.hunks, notes);
    if (patch.moveTo === undefined) state.now = patched;
    else {
      const target = await stateOf(patch.moveTo);
      const to = shownPath(files, patch.moveTo);
      if (target === state) throw fail(`The patch moves ${shown} to itself. Leave the move out. Nothing was changed.`);
      if (target.now !== null || target.before !== null)
        throw fail(`${to} exists already; ${shown} is not moved onto it. Nothing was changed.`);
      if (state.before === null)
        throw fail(`${shown} is made and moved by the same patch. Make it under its last name. Nothing was changed.`);
      state.now = patched;
      state.movedTo = patch.moveTo;
    }
  }
  return { changes: [...states.values()].flatMap(changeOf), notes };
}

function changeOf({ path, before, now, movedTo }: FileState): PlannedChange[] {
  if (movedTo !== undefined && before !== null && now !== null) return [{ kind: "move", path, to: movedTo, before, after: now }];
  if (now === null) return before === null ? [] : [{ kind: "delete", path, before }];
  if (before !== null && Buffer.compare(before, now) === 0) return [];
  return [{ kind: "write", path, before, after: now }];
}

function hasLines(content: Uint8Array, lines: readonly string[]): boolean {
  const there = readEditable(content)
    ?.text.replace(/\r?\n$/, "")
    .split(/\r?\n/);
  return there !== undefined && there.length === lines.length && there.every((line, index) => line.trimEnd() === lines[index]?.trimEnd());
}

function patchContent(shown: string, content: Uint8Array, hunks: readonly Hunk[], notes: string[]): Uint8Array {
  if (hunks.length === 0) return content;
  const editable = readEditable(content);
  if (editable === undefined) throw fail(`${shown} cannot be patched: it is not a text file. Nothing was changed.`);
  const placed = placeHunks(searchedText(editable.text), hunks);
  if (placed.kind !== "placed") throw fail(explain(shown, editable.text, hunks, placed));
  notes.push(...placed.notes.map((note) => `${shown}: ${note}`));
  const applied = editable.apply(placed.edits);
  if (typeof applied === "string") throw fail(`${shown} cannot be patched: ${applied}. Nothing was changed.`);
  return applied;
}

function explain(
  path: string,
  text: string,
  hunks: readonly Hunk[],
  failure: Exclude<HunksPlacement, { readonly kind: "placed" }>,
): string {
  const { hunk } = failure;
  const old = hunk.lines.filter(({ kind }) => kind !== "added").map((line) => line.text);
  const which = hunks.length === 1 ? "The hunk" : `Hunk ${hunks.indexOf(hunk) + 1} of ${hunks.length}`;
  switch (failure.kind) {
    case "refused":
      return `${which} for ${path} was refused: ${failure.reason}. Nothing was changed.`;
    case "ambiguous":
      return `${which} fits ${path} at ${failure.lines.length} places, lines ${namedLines(failure.lines)}. Give more lines around the change, or name the class or function it is in behind "@@". Nothing was changed.`;
    case "absent":
      return `${which} for ${path} does not fit: its lines are not in the file. ${describeNearest(text, old.join("\n"))} Nothing was changed.`;
  }
}

function fail(message: string): Error {
  return toolFailure("apply_patch", message);
}

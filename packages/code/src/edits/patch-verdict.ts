import { readEditable } from "./editable-text.ts";
import type { FilePatch, Hunk } from "./file-patch.ts";
import { placeHunks } from "./place-hunks.ts";
import { searchedText } from "./place-edit.ts";
import type { EditVerdict } from "./was-edited.ts";

/** The contents of the file that a patch is about, and of the one that it is moved to; `null` if there is none. */
export interface PatchedContents {
  readonly at: Uint8Array | null;
  readonly target: Uint8Array | null;
}

/**
 * Finds out whether the patch of one file was made, from the files: a patch that was made can be reversed, and one that was not can be made.
 */
export function patchVerdict(patch: FilePatch, { at, target }: PatchedContents): EditVerdict {
  switch (patch.kind) {
    case "add":
      if (at === null) return "not-done";
      return Buffer.from(patch.content, "utf8").equals(at) ? "done" : "unknown";
    case "delete":
      return at === null ? "done" : "not-done";
    case "update":
      if (patch.moveTo === undefined) return at === null ? "not-done" : hunksVerdict(at, patch.hunks);
      if (at !== null) return target === null ? "not-done" : "unknown";
      if (target === null) return "not-done";
      // The name went first; the lines may be missing.
      return hunksVerdict(target, patch.hunks) === "done" ? "done" : "unknown";
  }
}

function hunksVerdict(content: Uint8Array, hunks: readonly Hunk[]): EditVerdict {
  if (hunks.length === 0) return "done";
  const text = readEditable(content)?.text;
  if (text === undefined) return "not-done";
  const searched = searchedText(text);
  const [canMake, canTakeBack] = [placeHunks(searched, hunks), placeHunks(searched, hunks.map(reversed))].map(
    ({ kind }) => kind === "placed",
  );
  if (canMake === canTakeBack) return "unknown";
  return canMake ? "not-done" : "done";
}

function reversed(hunk: Hunk): Hunk {
  const lines = hunk.lines.map((line) => {
    if (line.kind === "context") return line;
    return line.kind === "added" ? { ...line, kind: "removed" as const } : { ...line, kind: "added" as const };
  });
  const lastLineEnd = hunk.lastLineEnd === "added" ? "removed" : hunk.lastLineEnd === "removed" ? "added" : undefined;
  return { ...hunk, lines, lastLineEnd, start: undefined };
}

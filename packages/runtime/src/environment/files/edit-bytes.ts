import { isUtf8 } from "node:buffer";
import { type EditResult, VfsError } from "@keelson/protocol";

/** A file's bytes with the first occurrence of a text replaced, and what is told of it; `undefined` without one. */
export interface EditedBytes {
  readonly bytes: Uint8Array;
  readonly result: EditResult;
}

/** On bytes, so that what is not UTF-8 in the file stays as it is. */
export function editBytes(path: string, before: Uint8Array, oldText: string, newText: string): EditedBytes | undefined {
  const content = Buffer.from(before.buffer, before.byteOffset, before.byteLength);
  const old = Buffer.from(oldText, "utf8");
  const at = content.indexOf(old);
  if (at === -1) return undefined;
  const after = Buffer.concat([content.subarray(0, at), Buffer.from(newText, "utf8"), content.subarray(at + old.byteLength)]);
  return { bytes: after, result: { path, editsApplied: 1, ...(isUtf8(after) && { contentAfter: after.toString("utf8") }) } };
}

export function requireOldText(path: string, oldText: string): void {
  if (oldText === "")
    throw new VfsError({ kind: "other", message: `Nothing to replace in ${path}: the old text is empty. Use write to set the content.` });
}

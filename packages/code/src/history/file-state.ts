/** The reason why the content of a file is not kept. */
export type UnkeptReason = "too-large" | "no-space" | "unreadable" | "ignored" | "other-disk";

/** The state of one path, as undo restores and compares it. `undefined` means that nothing is there. */
export type FileState =
  | { readonly type: "folder"; readonly mode: number }
  | { readonly type: "link"; readonly target: string }
  /** A file whose content is kept. `secret`: in the store of sensitive images. `inode`: present if the file has several names, by which they are found. */
  | {
      readonly type: "file";
      readonly mode: number;
      readonly size: number;
      readonly digest: string;
      readonly secret?: true;
      readonly inode?: number;
    }
  /** A file whose content is not kept. `stamp` distinguishes two contents by size, times and inode. */
  | { readonly type: "unkept"; readonly mode: number; readonly size: number; readonly stamp: string; readonly reason: UnkeptReason }
  /** An object of git, which never changes in place. `key` names it in the store of objects. */
  | { readonly type: "object"; readonly size: number; readonly key: string }
  /** A folder whose content is not covered. */
  | { readonly type: "skipped"; readonly reason: SkipReason }
  /** A pipe, socket or device. */
  | { readonly type: "other" };

/** The reason why a folder is not covered. */
export type SkipReason = "dependencies" | "build" | "unreadable" | "too-many";

/** A change of one path by one step. */
export interface Change {
  /** Absolute, as of `systemPath`. */
  readonly path: string;
  readonly before: FileState | undefined;
  readonly after: FileState | undefined;
  /** The reason why it is not known that the step made this change. Such a change is undone only on request. */
  readonly unclear?: UnclearReason;
}

/** `after-kill`: it was made after the process was killed. `long-job`: the command in the background ran for so long that the person may have made it. */
export type UnclearReason = "after-kill" | "long-job";

/** The permission bits of a mode. */
export const MODE_BITS = 0o7777;

/** True if two states are the same for undo: type, permissions and content. Times do not count. */
export function sameState(a: FileState | undefined, b: FileState | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  switch (a.type) {
    case "folder":
      return b.type === "folder" && a.mode === b.mode;
    case "link":
      return b.type === "link" && a.target === b.target;
    case "file":
      return b.type === "file" && a.mode === b.mode && a.digest === b.digest;
    case "unkept":
      return b.type === "unkept" && a.mode === b.mode && a.stamp === b.stamp;
    case "object":
      return b.type === "object";
    case "skipped":
    case "other":
      return b.type === a.type;
  }
}

/** True if a change to or from this state can be undone. */
export function isKept(state: FileState | undefined): boolean {
  return state === undefined || state.type === "folder" || state.type === "link" || state.type === "file" || state.type === "object";
}

/** Returns all states of changes. */
export function* statesOf(changes: readonly Change[]): Generator<FileState | undefined> {
  for (const { before, after } of changes) {
    yield before;
    yield after;
  }
}

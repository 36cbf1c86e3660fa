import type { VfsError } from "@keelson/protocol";
import { isWithin } from "./virtual-path.ts";
import { keptAway, outsideScope, readOnlyHere } from "./vfs-failures.ts";

export type AccessLevel = "write" | "read" | "none";

/** What of the files in its roots a file system touches. Asked with real paths, that need not exist. */
export interface FileAccess {
  of(path: string): AccessLevel;
  /** The least of this path and of all that is, or could come to be, below it: for what moves, copies or removes whole folders. */
  within(path: string): AccessLevel;
  /** The real folders that files may be read in and changed in. Without `readable` every file may be read. Absent: no folder limits access. */
  readonly roots?: { readonly readable?: readonly string[]; readonly writable: readonly string[] };
}

/**
 * Returns the error for access that is refused: `scope-violation` if the path is in none of the allowed folders, else `operation-denied`.
 * @param path the path as it was given
 * @param real the path that it leads to
 */
export function refusedAccess({ roots }: FileAccess, wanted: "read" | "write", path: string, real: string): VfsError {
  const scope = wanted === "write" ? roots?.writable : roots?.readable && [...roots.readable, ...roots.writable];
  if (scope !== undefined && !scope.some((folder) => isWithin(folder, real))) return outsideScope(path, wanted, scope);
  return wanted === "write" ? readOnlyHere(path) : keptAway(path);
}

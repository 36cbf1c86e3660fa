import { type GlobEntry, type GrepOptions, type SearchOmission, VfsError } from "@keelson/protocol";
import type { SearchGlob } from "../search/search-glob.ts";

type PathFunctions = Pick<GrepOptions, "mayRead" | "onOmitted">;

/** Returns the functions of a search that are called with paths, for a mount that names its paths in its own way. */
export function toldTo(told: (inner: string) => string, { mayRead, onOmitted }: Partial<PathFunctions>): Partial<PathFunctions> {
  return {
    ...(mayRead && { mayRead: (path) => mayRead(told(path)) }),
    ...(onOmitted && { onOmitted: (omission) => onOmitted({ ...omission, path: told(omission.path) }) }),
  };
}

/** Handles the error of a mount that found nothing for a pattern which is read as a text: other mounts may find something. */
export function noneIfRefused({ refusal }: SearchGlob): (error: unknown) => readonly GlobEntry[] {
  return (error) => {
    if (refusal !== undefined && VfsError.is(error, "unsupported")) return [];
    throw error;
  };
}

/** Returns the note that a search of content went to another mount. */
export function otherMount(prefix: string, searched: string): SearchOmission {
  return {
    path: prefix,
    isDir: true,
    reason: "left-out",
    message: `A search of content goes to one mount. Search ${searched} and the others one after the other.`,
  };
}

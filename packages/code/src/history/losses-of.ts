import type { Loss } from "@keelson/protocol";
import { shownIn } from "./compare-trees.ts";
import type { Uncovered } from "./find-uncovered.ts";
import { textPath } from "./system-path.ts";

const MAX_LISTED = 20;

/** The loss of files that reading a command does not name. */
export const UNKNOWN_LOSS: Loss = { path: "*", description: "which files it deletes or overwrites cannot be known by reading it" };

/** Describes what undo cannot bring back, for a question about the command that may destroy it. */
export function lossesOf(uncovered: readonly Uncovered[], root: string): readonly Loss[] {
  const listed = uncovered.length > MAX_LISTED ? uncovered.slice(0, MAX_LISTED - 1) : uncovered;
  const others = uncovered.slice(listed.length);
  return [
    ...listed.map(({ path, what, reason }) => ({ path: textPath(path), description: `${shownIn(root, path)} (${what}): ${reason}` })),
    ...(others.length > 0
      ? [{ path: textPath(root), description: `${others.length} other files and folders that undo does not cover` }]
      : []),
  ];
}

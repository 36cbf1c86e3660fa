import type { SkipReason, UnkeptReason } from "./file-state.ts";
import type { HistoryLimits } from "./history-limits.ts";
import { HISTORY_BYTES } from "./history-limits.ts";

/** A line about something that cannot be undone. Notes with the same key are given once in a session. */
export interface HistoryNote {
  readonly key: string;
  readonly text: string;
  /** True if it is about one event, a deletion: it is given once for each command. */
  readonly isEvent?: boolean;
}

/** Returns a size for people. */
export function shownBytes(bytes: number): string {
  const units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
  let value = bytes;
  let unit = 0;
  for (; value >= 1024 && unit < units.length - 1; unit++) value /= 1024;
  return `${value >= 100 || Number.isInteger(value) ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}

/** Returns the reason why a file cannot be undone, with a remedy. */
export function unkeptReason(reason: UnkeptReason, { fileBytes, ignoredFileBytes, treeBytes }: HistoryLimits): string {
  switch (reason) {
    case "too-large":
      return `it is larger than ${shownBytes(fileBytes)} (${HISTORY_BYTES} raises the limit)`;
    case "no-space":
      return `the project has more than ${shownBytes(treeBytes)}, or the disk is full (${HISTORY_BYTES} raises the limit; files that git ignores count less)`;
    case "unreadable":
      return "it cannot be read";
    case "ignored":
      return `git ignores it, and it has ${shownBytes(ignoredFileBytes)} or more`;
    case "other-disk":
      return `the repository is on another disk than the history and has too many objects to copy (${HISTORY_BYTES} raises the limit; KEELSON_HOME on the same disk avoids copies)`;
  }
}

/** Returns the reason why a folder cannot be undone, with a remedy. */
export function skipReason(reason: SkipReason): string {
  switch (reason) {
    case "dependencies":
      return "git ignores it, and it holds dependencies; install them again";
    case "build":
      return "git ignores it, and it holds build results; build them again";
    case "unreadable":
      return "it cannot be read";
    case "too-many":
      return "the project has too many files; add folders to .gitignore, or start in a smaller folder";
  }
}

import type { Stats } from "node:fs";

/** The facts of `lstat` that change when content or permissions of a file change. */
export interface FileStamp {
  readonly mode: number;
  readonly size: number;
  /** Times of `lstat` in milliseconds with fractions: they are exact to a quarter of a microsecond, and file systems count in larger steps. */
  readonly mtimeMs: number;
  readonly ctimeMs: number;
  readonly ino: number;
}

export function stampOf({ mode, size, mtimeMs, ctimeMs, ino }: Stats): FileStamp {
  return { mode, size, mtimeMs, ctimeMs, ino };
}

export function sameStamp(a: FileStamp, b: FileStamp): boolean {
  return a.size === b.size && a.mtimeMs === b.mtimeMs && a.ctimeMs === b.ctimeMs && a.ino === b.ino && a.mode === b.mode;
}

/** Returns the stamp as text, for the state of a file whose content is not kept. */
export function stampText({ size, mtimeMs, ctimeMs, ino }: FileStamp): string {
  return `${size}:${mtimeMs}:${ctimeMs}:${ino}`;
}

const TICK_MS = 100;
const COARSE_TICK_MS = 2100;

/**
 * True if the file may change once more without another stamp, because the clock of the file system has not moved on since its last change. Some file
 * systems count whole seconds.
 */
export function isUnsettled({ mtimeMs, ctimeMs }: FileStamp, now: number): boolean {
  const isCoarse = ctimeMs % 1000 === 0 && mtimeMs % 1000 === 0;
  return now - Math.max(ctimeMs, mtimeMs) < (isCoarse ? COARSE_TICK_MS : TICK_MS);
}

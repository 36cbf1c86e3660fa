import type { Vfs } from "@keelson/protocol";
import { createFileTree } from "./file-tree.ts";
import { createTreeVfs } from "./tree-vfs.ts";
import { checkOptionNames } from "../../json/option-names.ts";
import { BOUND_OPTION, FUNCTION_OPTION } from "../../json/option-rules.ts";

export interface MemoryVfsOptions {
  /** Bytes that all files together may have. Default 256 MiB. */
  readonly maxBytes?: number | undefined;
  /** Unix ms; the times of files. Default: the clock. */
  readonly now?: (() => number) | undefined;
}

const DEFAULT_MAX_BYTES = 256 * 1024 * 1024;

/** Files in memory, which live as long as this object: scratchpads and fixtures. Empty at first; `/` is the root. */
export function createMemoryVfs(options: MemoryVfsOptions = {}): Vfs {
  checkOptionNames("createMemoryVfs", options, { maxBytes: BOUND_OPTION, now: FUNCTION_OPTION });
  const { maxBytes = DEFAULT_MAX_BYTES, now = Date.now } = options;
  return createTreeVfs(createFileTree(maxBytes, now), { readOnly: false, now });
}

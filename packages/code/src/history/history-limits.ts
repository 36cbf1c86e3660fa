/** Bounds of what a history keeps. */
export interface HistoryLimits {
  /** Bytes of a file above which its content is not kept. */
  readonly fileBytes: number;
  /** Bytes of an ignored file from which on it is not covered. */
  readonly ignoredFileBytes: number;
  /** Bytes of the present content of all covered files of a project. */
  readonly treeBytes: number;
  /** Bytes of all that is kept of a project. The oldest steps are dropped beyond it. */
  readonly totalBytes: number;
  /** Bytes of objects of git that are copied if they cannot be linked. */
  readonly objectBytes: number;
  /** Files and folders that are covered. */
  readonly entries: number;
  /** Ignored files and folders that are covered. */
  readonly ignoredEntries: number;
}

const MIB = 1024 * 1024;

export const DEFAULT_LIMITS: HistoryLimits = {
  fileBytes: 64 * MIB,
  ignoredFileBytes: MIB,
  treeBytes: 1024 * MIB,
  totalBytes: 4096 * MIB,
  objectBytes: 512 * MIB,
  entries: 100_000,
  ignoredEntries: 20_000,
};

/** The variable that sets the bytes which the history of a project may take, as in `8G`. */
export const HISTORY_BYTES = "KEELSON_HISTORY_BYTES";

const UNITS: { readonly [unit: string]: number } = { "": 1, "K": 1024, "M": MIB, "G": 1024 * MIB, "T": MIB * MIB };

/** Returns the limits with those that the environment sets. A value that is not understood changes nothing. */
export function limitsFrom(environment: { readonly [name: string]: string | undefined }): HistoryLimits {
  const found = /^(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?$/i.exec(environment[HISTORY_BYTES]?.trim() ?? "");
  if (found === null) return DEFAULT_LIMITS;
  const totalBytes = Math.floor(Number(found[1]) * (UNITS[(found[2] ?? "").toUpperCase()] ?? 1));
  return {
    ...DEFAULT_LIMITS,
    totalBytes,
    treeBytes: Math.floor(totalBytes / 4),
    fileBytes: Math.min(Math.max(DEFAULT_LIMITS.fileBytes, Math.floor(totalBytes / 16)), Math.floor(totalBytes / 4)),
    objectBytes: Math.floor(totalBytes / 8),
  };
}

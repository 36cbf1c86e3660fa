export interface ArchiveEntry {
  readonly path: string;
  readonly isDir: boolean;
  /** Uncompressed bytes. */
  readonly size: number;
}

export interface ArchiveInfo {
  readonly entries: readonly ArchiveEntry[];
  readonly format: string;
  readonly compressedSize: number;
}

/** A text file as it was decoded. */
export interface FileText {
  /** Lines without their ends. */
  readonly lines: readonly string[];
  /** The encoding that was recognised, such as `utf-8` or `shift_jis`. */
  readonly encoding: string;
  /** Bytes on disk. */
  readonly size: number;
}

/** The texts of files that were read. An entry is valid while modification time and size of the file are the same. */
export interface FileTexts {
  /** Returns the text of a file, from the store if the file has not changed. `undefined` if the file is not text. */
  read(path: string, options: { readonly signal: AbortSignal }): Promise<FileText | undefined>;
  /** Drops the text of a file that was changed, moved or deleted. */
  drop(path: string): void;
}

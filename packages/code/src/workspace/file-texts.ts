import type { Vfs } from "@keelson/protocol";
import type { LargeText } from "../reading/large-text.ts";
import type { DocumentForm, OtherDocument, TextDocument } from "../reading/open-document.ts";

/** A text file as it was decoded. */
export interface FileText extends TextDocument {
  /** Bytes on disk. */
  readonly size: number;
  /** Of the bytes, as `digestOf` makes it. */
  readonly digest: string;
}

/** A file as it was opened. */
export type OpenedFile =
  | { readonly kind: "text"; readonly text: FileText; readonly changedWhileRead: boolean }
  | { readonly kind: "other"; readonly document: OtherDocument; readonly size: number; readonly content: Uint8Array }
  | { readonly kind: "large"; readonly text: LargeText }
  | { readonly kind: "folder" };

export interface FileReadOptions {
  readonly signal: AbortSignal;
  /** The files that the path belongs to. Default: those of the workspace. */
  readonly files?: Vfs | undefined;
}

/** The texts of files that were read. An entry is valid while size, modification time, time of change and inode of the file are the same. */
export interface FileTexts {
  /** Opens a file, from the store if it has not changed. Rejects with `VfsError` like `stat` and `read`. */
  open(path: string, options: FileReadOptions & DocumentForm): Promise<OpenedFile>;
  /** Returns the text of a file, from the store if the file has not changed. `undefined` if the file is not text, or too large to be held. */
  read(path: string, options: FileReadOptions): Promise<FileText | undefined>;
  /** Drops the text of a file that was changed, moved or deleted. */
  drop(path: string): void;
}

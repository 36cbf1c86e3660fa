/** What a file system can do. An operation outside its capabilities rejects with `VfsError` of kind `unsupported`. */
export type VfsCapability =
  | "ls"
  | "read"
  | "write"
  | "edit"
  | "grep"
  | "glob"
  | "upload"
  | "download"
  | "pwd"
  | "cd"
  | "rm"
  | "cp"
  | "mv"
  | "exec";

export interface DirEntry {
  readonly name: string;
  readonly path: string;
  readonly isDir: boolean;
  readonly size?: number;
  /** Unix ms. */
  readonly modified?: number;
}
export interface FileContent {
  readonly content: Uint8Array;
  readonly mimeType?: string;
}
export interface FileInfo {
  readonly path: string;
  readonly size: number;
  readonly isDir: boolean;
  readonly isSymlink: boolean;
  /** Unix ms. */
  readonly modified?: number;
  /** Unix ms of the last change of content or metadata: a time that no program can set. Absent: the file system has none. */
  readonly changed?: number;
  /** Distinguishes two files that had the same path one after the other. Absent: the file system has no such number. */
  readonly inode?: number;
  /** Unix mode bits. */
  readonly permissions?: number;
  /** Names (hard links) of a file. `undefined` if the file system does not know. */
  readonly links?: number;
}
export interface WriteResult {
  readonly path: string;
  readonly bytesWritten: number;
}
/** `editsApplied` is 0 when the old string was not found, 1 when its first occurrence was replaced. */
export interface EditResult {
  readonly path: string;
  readonly editsApplied: number;
  readonly contentAfter?: string;
}
export interface GlobEntry {
  readonly path: string;
  readonly isDir: boolean;
  readonly size?: number;
}
export interface TransferResult {
  readonly path: string;
  readonly bytesTransferred: number;
}
export type GrepOutputMode = "content" | "files-with-matches" | "count";
/** Every field has its zero value by default, so line numbers are off unless asked for. */
export interface GrepOptions {
  /** Default: the current working directory. */
  readonly path?: string | undefined;
  readonly afterContext?: number | undefined;
  readonly beforeContext?: number | undefined;
  /** Symmetric; overrides `beforeContext` and `afterContext`. */
  readonly context?: number | undefined;
  readonly caseInsensitive?: boolean | undefined;
  readonly glob?: string | undefined;
  readonly fileType?: string | undefined;
  readonly maxMatches?: number | undefined;
  readonly outputMode?: GrepOutputMode | undefined;
  readonly multiline?: boolean | undefined;
  readonly lineNumbers?: boolean | undefined;
  readonly invert?: boolean | undefined;
  readonly fixedString?: boolean | undefined;
  /**
   * Leave out `.git` and what git does not list: files that a `.gitignore` or `info/exclude` ignores, unless the index has them. The rules are those of
   * the searched folders and of the folders above them, up to the top of the repository or, without one, up to the root.
   */
  readonly gitignore?: boolean | undefined;
  /** Names of folders that are passed over, wherever they are below the start, as in `["node_modules"]`. With `gitignore`, files in them that git tracks stay. */
  readonly leaveOut?: readonly string[] | undefined;
  /** False for a file that must not be read. It is left out, whatever it holds. */
  readonly mayRead?: ((path: string) => boolean) | undefined;
  /** Receives each file and folder that was left out although it may hold matches. A `Vfs` of your own that leaves nothing out need not call it. */
  readonly onOmitted?: ((omission: SearchOmission) => void) | undefined;
}
/**
 * The reason why a search left something out. `ignored`: by the rules of git. `left-out`: by its name, as the caller wished. `binary`: its lines are not
 * shown, though they may match. `too-large` and `unreadable`: it was not read, or not to its end. `encoding`: the encoding is unknown, so that only ASCII
 * was searched for reliably. `denied`: by `mayRead`, or by a policy of the files.
 */
export type OmissionReason = "ignored" | "left-out" | "binary" | "too-large" | "unreadable" | "encoding" | "denied";
export interface SearchOmission {
  /** A path like those of the results. */
  readonly path: string;
  readonly isDir: boolean;
  readonly reason: OmissionReason;
  /** Says more, as the error of the system. */
  readonly message?: string;
}
/** In `count` mode `lineNumber` holds the number of matches and `lineContent` its string form. */
export interface GrepMatch {
  readonly file: string;
  /** From 1; 0 when line numbers are off. */
  readonly lineNumber: number;
  /** Byte offset of the match in its line, from 0. */
  readonly column: number;
  readonly lineContent: string;
  readonly before: readonly string[];
  readonly after: readonly string[];
}

export interface VfsOptions {
  readonly signal?: AbortSignal | undefined;
}
/** A part of a file, in bytes. */
export interface PartOptions extends VfsOptions {
  /** The first byte, from 0. */
  readonly start: number;
  /** The byte behind the last. */
  readonly end: number;
}
export interface GlobOptions extends VfsOptions {
  /** Where the pattern begins. Default: the current working directory. */
  readonly path?: string | undefined;
  readonly limit?: number | undefined;
  /** As of `GrepOptions`. */
  readonly gitignore?: boolean | undefined;
  /** The same as in `GrepOptions`. */
  readonly leaveOut?: readonly string[] | undefined;
  /** The same as in `GrepOptions`, for folders too. */
  readonly mayRead?: ((path: string) => boolean) | undefined;
  /** The same as in `GrepOptions`. */
  readonly onOmitted?: ((omission: SearchOmission) => void) | undefined;
}

/** Files behind one interface. Paths are POSIX style; a relative one starts at the working directory. Failures reject with `VfsError`. */
export interface Vfs {
  readonly capabilities: ReadonlySet<VfsCapability>;
  /** The folder that no path leaves, absolute. Without one it is `/`. */
  readonly root?: string;
  /**
   * Where a path leads, absolute and with links followed, also where nothing is there yet: what rules about paths are held against. Rejects with
   * `VfsError` where that is outside. Absent: there are no links.
   */
  realPath?(path: string): Promise<string>;
  ls(path: string, options?: VfsOptions): Promise<readonly DirEntry[]>;
  stat(path: string, options?: VfsOptions): Promise<FileInfo>;
  read(path: string, options?: VfsOptions): Promise<FileContent>;
  /** Returns a part of a file of any size; less than that at its end, and nothing behind it. Absent: files are read whole. */
  readPart?(path: string, options: PartOptions): Promise<FileContent>;
  /**
   * Creates or replaces the file and its missing parent folders, all or nothing. With `ifUnchanged` it rejects with
   * `conflict` when the file's bytes are no longer these (`null`: when it exists). A file that is read-only, or that has
   * more names (hard links), is not replaced.
   */
  write(
    path: string,
    content: Uint8Array | string,
    options?: VfsOptions & { readonly ifUnchanged?: Uint8Array | null },
  ): Promise<WriteResult>;
  edit(path: string, oldText: string, newText: string, options?: VfsOptions): Promise<EditResult>;
  grep(pattern: string, options?: GrepOptions & VfsOptions): Promise<readonly GrepMatch[]>;
  glob(pattern: string, options?: GlobOptions): Promise<readonly GlobEntry[]>;
  upload(from: string, to: string, options?: VfsOptions): Promise<TransferResult>;
  download(from: string, to: string, options?: VfsOptions): Promise<TransferResult>;
  pwd(): Promise<string>;
  cd(path: string): Promise<void>;
  rm(path: string, options?: VfsOptions & { readonly recursive?: boolean }): Promise<void>;
  cp(from: string, to: string, options?: VfsOptions): Promise<TransferResult>;
  mv(from: string, to: string, options?: VfsOptions): Promise<TransferResult>;
}

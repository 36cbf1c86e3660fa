export type AccessLevel = "write" | "read" | "none";

/** What of the files in its roots a file system touches. Asked with real paths, that need not exist. */
export interface FileAccess {
  of(path: string): AccessLevel;
  /** The least of this path and of all that is, or could come to be, below it: for what moves, copies or removes whole folders. */
  within(path: string): AccessLevel;
}

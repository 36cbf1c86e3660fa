/** The folder in which commands start and against which relative paths are resolved. All tools of a run share it. */
export interface WorkingDirectory {
  /** Absolute. */
  readonly path: string;
  /** Moves to a folder, relative to the present one or absolute. Throws `VfsError` if it does not exist or lies outside of what the agent may use. */
  change(path: string): Promise<void>;
}

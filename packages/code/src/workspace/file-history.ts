import type { ChangingCall } from "./file-changes.ts";

/** Keeps the states of files from before each change, for undo. */
export interface FileHistory {
  /** Keeps the state of these files before a tool changes them. Resolves when it is on disk. */
  keep(paths: readonly string[], call: ChangingCall): Promise<void>;
  /**
   * Runs a shell command that may write, and keeps the state of what it changes.
   * @returns the result of `run`, and lines for the model and the person about what cannot be undone
   */
  around<T>(call: ChangingCall, run: () => Promise<T>): Promise<{ readonly result: T; readonly notes: readonly string[] }>;
}

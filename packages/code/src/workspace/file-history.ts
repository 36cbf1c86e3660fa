import type { DestroyedFiles, Loss } from "@keelson/protocol";
import type { ChangingCall } from "./file-changes.ts";

/** Facts about a command for the history. */
export interface AroundOptions<T> {
  /** The command line, for people. */
  readonly title?: string | undefined;
  /** Present if the command goes on when `run` has resolved: resolves when it has ended. Its changes count until then. */
  readonly ended?: ((result: T) => Promise<unknown>) | undefined;
  /** The files that it is known to delete or overwrite. The notes say which of them are lost. */
  readonly destroys?: readonly DestroyedFiles[] | undefined;
  /** Receives the notes about a command that goes on, when it has ended. */
  readonly onEnd?: ((notes: readonly string[]) => void) | undefined;
}

/** The result of a command, and what it did to the files of the project. */
export interface AroundResult<T> {
  readonly result: T;
  /** Lines for the model and the person about what cannot be undone. */
  readonly notes: readonly string[];
  /** The covered files that it changed, made or deleted: relative to the root of the history, in order. Empty if it goes on. */
  readonly changed: readonly string[];
}

/** Keeps the states of files from before each change, for undo. */
export interface FileHistory {
  /** Keeps the state of these files before a tool changes them. Resolves when it is on disk. */
  keep(paths: readonly string[], call: ChangingCall): Promise<void>;
  /**
   * Finds out what of the files that a command may delete or overwrite could not be undone.
   * @param options.ownFolders folders that are others to the command than to this process
   */
  losses(destroyed: readonly DestroyedFiles[], options?: { readonly ownFolders?: readonly string[] }): Promise<readonly Loss[]>;
  /** Runs a shell command that may write, and keeps the state of what it changes. Rejects with the error of `run` alone. */
  around<T>(call: ChangingCall, run: () => Promise<T>, options?: AroundOptions<T>): Promise<AroundResult<T>>;
}

import type { Executor, Vfs } from "@keelson/protocol";
import type { SandboxExecutorOptions } from "../sandbox/sandbox-executor-options.ts";
import type { SandboxPolicy } from "../sandbox/sandbox-policy.ts";
import type { OverlayConflict, Resolution } from "./plan-commit.ts";

/** A path that is not as it was in the base when it was first changed here. */
export interface OverlayChange {
  /** Below the workspace. */
  readonly path: string;
  readonly change: "added" | "changed" | "deleted";
  readonly type: "file" | "folder" | "link" | "other";
  /** Of text files, when asked for: as `diff -u` shows it. */
  readonly text?: string;
}

export type CommitResult =
  | {
      readonly status: "committed";
      /** Paths in the base that were changed. */
      readonly changed: readonly string[];
      /** Those of them that had changed in the base, too, and hold both changes now. */
      readonly merged: readonly string[];
    }
  /** Nothing was changed: neither the base nor the overlay. */
  | { readonly status: "conflicts"; readonly conflicts: readonly OverlayConflict[] };

export interface CommitOptions {
  /** Says for each conflict which side's content stands afterwards; where it gives `undefined`, nothing is committed. */
  readonly resolve?: ((conflict: OverlayConflict) => Resolution | Promise<Resolution>) | undefined;
}

/** A workspace of one's own over a folder that others work on, too. */
export interface Overlay extends AsyncDisposable {
  readonly id: string;
  /** The real path of the base. */
  readonly base: string;
  /** The workspace: the base with the changes made here. Its root is the base's path, and that of the copy where there is one. */
  readonly files: Vfs;
  /**
   * Runs commands in a sandbox with the workspace as its own: what they write is changed here. Where commands can't write to it they
   * are not run, and `execute` rejects with `provision-failed` and the reason.
   */
  executor(policy: SandboxPolicy, options?: Omit<SandboxExecutorOptions, "workspace" | "session">): Executor;
  /** What was changed here, in the order of paths; a folder stands before what is in it. */
  diff(options?: { readonly text?: boolean }): Promise<readonly OverlayChange[]>;
  /**
   * Makes the changes in the base, and begins anew on what that is then. What changed in the base meanwhile stays: a text file that
   * both sides changed in different lines gets both; anything else that both changed is a conflict, and nothing is committed. A commit
   * that is cut off is finished when the base is next used by an overlay. Refused while commands run.
   */
  commit(options?: CommitOptions): Promise<CommitResult>;
  /** Forgets all changes. Refused while commands run. */
  rollback(): Promise<void>;
  /** Keeps the changes in the store, for an overlay with this id; without changes nothing is left there. */
  close(): Promise<void>;
}

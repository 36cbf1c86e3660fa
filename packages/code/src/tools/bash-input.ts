import type { BlobStore, Executor } from "@keelson/protocol";
import type { Workspace } from "../workspace/workspace.ts";

/** The arguments of a call of `bash`. */
export interface BashInput {
  readonly command: string;
  readonly timeout_seconds?: number;
  readonly silence_seconds?: number;
  readonly run_in_background?: boolean;
  readonly outside?: boolean;
  readonly reason?: string;
  readonly hosts?: readonly string[];
  readonly publish?: readonly number[];
  readonly reveal?: readonly string[];
}

/** The ways out of a sandbox. */
export interface LeavingExecutor {
  /** Runs commands outside of it. */
  readonly outside: Executor;
  /** The reason why `/tmp` and the network do not outlive a command, once one was started. */
  readonly unavailable?: string | undefined;
  /** Makes a port of its network reachable on this machine. */
  publish(port: number): Promise<void>;
}

/** The context of the tool `bash`: a `cd` lasts in the files, and the history keeps what commands change. */
export type BashContext = Pick<Workspace, "files" | "start" | "history">;

/** The programs that the tool `bash` starts. */
export interface BashOptions {
  readonly exec: Executor;
  /** Present if `exec` is a sandbox that a call may leave. */
  readonly leaving?: LeavingExecutor | undefined;
  /** The jobs that the model ended itself, so that it need not be told. */
  readonly killed?: ReadonlySet<string>;
  /** The store of long outputs. Their results have beginning and end only; `bash_output` reads the rest. */
  readonly blobs?: Pick<BlobStore, "put"> | undefined;
}

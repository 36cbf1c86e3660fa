import type { BlobStore, Executor } from "@keelson/protocol";
import type { FileHistory } from "../workspace/file-history.ts";
import type { WorkspaceFiles } from "./workspace-files.ts";

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

/** The services of the tool `bash`. */
export interface BashOperations {
  readonly exec: Executor;
  /** The files of the project, in which a `cd` lasts. Absent: it lasts in an environment alone. */
  readonly files?: WorkspaceFiles | undefined;
  /** Present if `exec` is a sandbox that a call may leave. */
  readonly leaving?: LeavingExecutor | undefined;
  /** The jobs that the model ended itself, so that it need not be told. */
  readonly killed?: ReadonlySet<string>;
  /** The store of long outputs. Their results have beginning and end only; `bash_output` reads the rest. */
  readonly blobs?: Pick<BlobStore, "put"> | undefined;
  /** Keeps what commands change, for undo. Absent: nothing is kept. */
  readonly history?: Pick<FileHistory, "around"> | undefined;
}

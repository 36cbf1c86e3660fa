import type { CallEffects } from "./call-effects.ts";
import type { Digest } from "./ids.ts";
import type { BlobStore } from "./log.ts";
import type { HostVerdict } from "./host-verdict.ts";
import type { JobInfo, PipelineStage, ProcessInfo } from "./process.ts";

/** The size of a terminal in characters. */
export interface TerminalSize {
  readonly columns: number;
  readonly rows: number;
}

/** One command line or one program with arguments. Exactly one of `command` (given to the shell) and `program`. */
export interface ExecuteRequest {
  readonly command?: string;
  readonly program?: string;
  readonly args?: readonly string[];
  readonly cwd?: string;
  /** Added to the executor's own environment. */
  readonly env?: { readonly [name: string]: string };
  /** `false`: of the executor's own environment it finds only what programs need to be found and to run, such as PATH and HOME. Default true. */
  readonly inheritEnv?: boolean;
  /** Its whole input, or pieces that are written as they come: its input ends with them. They are taken once, when it runs. */
  readonly stdin?: string | AsyncIterable<string>;
  /** Wall time after which the whole process group is killed. */
  readonly timeoutMs?: number;
  /** Bytes kept of stdout and of stderr each (head and tail); the rest is counted, not kept. */
  readonly maxOutputBytes?: number;
  /** Where output is kept whole that is larger than that: see `stdoutBlob`. */
  readonly blobs?: Pick<BlobStore, "put" | "get"> | undefined;
  /** Runs it on a terminal of its own; all that it writes is stdout then. An executor without terminals rejects with `unsupported`. */
  readonly pty?: boolean | TerminalSize;
  readonly signal?: AbortSignal;
  /** Milliseconds from SIGTERM to SIGKILL if `signal` fires. Default: as at a timeout. */
  readonly cancelGraceMs?: number;
  /**
   * Asked about each connection to a host, where a sandbox filters them: `open` opens a host that its policy does not list, `denied` closes one that
   * it does. Executors that filter nothing ignore it.
   */
  judgeHost?(host: string, port: number): HostVerdict;
  /**
   * Asked about each file that a sandbox hides because it may hold secrets, by its path below the workspace: true shows it to this command.
   * Executors that hide nothing ignore it.
   */
  mayReveal?(path: string): boolean;
  /** True: the response says in which folder a command line ended, as its own shell has it then. Executors that do not know it ignore it. */
  readonly reportsDirectory?: boolean;
  /** Called once, when it runs. */
  onStart?(started: { readonly pid: number }): void;
  /** Called with text as it arrives. */
  onOutput?(stream: "stdout" | "stderr", text: string): void;
}

export interface ExecuteResponse {
  /** `null` when a signal ended it. */
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly stdoutBytes: number;
  readonly stderrBytes: number;
  /** The whole of an output of which `stdout` has head and tail only, where the request brought `blobs`: as far as the executor keeps so much. */
  readonly stdoutBlob?: Digest;
  readonly stderrBlob?: Digest;
  readonly timedOut: boolean;
  readonly durationMs: number;
  /**
   * The folder in which the shell of a command line ended, absolute and with links followed, if the request asks for it. Absent where that is not
   * known: a program took the place of the shell, or the shell is not bash. A `cd` in a subshell or a pipeline does not count, as in any shell.
   */
  readonly directory?: string;
  /** Ids of processes that it started and that could not be ended with it, where the executor knows of such. */
  readonly left?: readonly number[];
  /** Entries that a sandbox moved aside, because programs outside of it would obey them. `stderr` names them, too. */
  readonly movedAside?: readonly MovedEntry[];
  /** Files of the workspace that a sandbox hid, because they may hold secrets; paths below the workspace. `stderr` of a failed command names them. */
  readonly hiddenFiles?: readonly string[];
  /** Connections that a sandbox refused while it ran, as `example.com:443`. Another command that ran at the same time may have asked for them. */
  readonly refusedHosts?: readonly string[];
  /** The bytes of memory that it may use, if the kernel ended one of its processes for using more, or refused memory to it. */
  readonly memoryLimit?: number;
}

/** An entry that was moved aside. Paths are absolute. */
export interface MovedEntry {
  readonly path: string;
  /** Its new path; `undefined` if it could not be moved. */
  readonly to?: string;
  /** The reason why it could not be moved. */
  readonly problem?: string;
}

/** What holds for all programs of a pipeline. */
export type PipelineRequest = Omit<ExecuteRequest, "reportsDirectory" | "command" | "program" | "args" | "pty" | "onStart" | "blobs">;

export interface StageResponse {
  /** `null` when a signal ended it, as `SIGPIPE` does when the next one reads no more; some executors tell that as 128 and its number. */
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly timedOut: boolean;
}

/** Exit code, signal and stdout are the last program's, as in a shell; stderr is that of all. */
export interface PipelineResponse extends ExecuteResponse {
  readonly stages: readonly StageResponse[];
  /** The last of `stages` that failed, by which a shell with `pipefail` judges the whole. Absent: none did. */
  readonly failedStage?: number;
}

/** A command to start in the background. Its stdout and stderr are one output. `signal` counts for the start only. */
export type JobRequest = Omit<ExecuteRequest, "reportsDirectory" | "onOutput" | "onStart">;

export interface JobOutput {
  readonly job: JobInfo;
  readonly text: string;
  /** Where `text` begins, in bytes of the output: behind `after` where what followed it is not kept. */
  readonly from: number;
  /** What to poll `after` next. */
  readonly next: number;
  readonly totalBytes: number;
}

export interface PollOptions {
  /** Bytes of the output that are known already. Default 0. */
  readonly after?: number;
  /** Default 64 KiB. */
  readonly maxBytes?: number;
  /** How long to wait where nothing is new, for output or for the end. Default 0. */
  readonly waitMs?: number;
  readonly signal?: AbortSignal;
}

/**
 * Commands in the background. They outlive the call that started them, and end with the process that holds the executor, however that
 * ends. Of their output head and tail are kept, or all where the request brought `blobs`, up to the bounds of the executor. What
 * became of a job can be asked after its end, too. An id that is not known rejects with `EnvironmentError`.
 */
export interface Jobs {
  /** Resolves when it runs. Rejects as `execute` does, and with `resource-exceeded` when too many run. */
  start(request: JobRequest): Promise<JobInfo>;
  poll(id: string, options?: PollOptions): Promise<JobOutput>;
  /** Ends it with all it started, and resolves when nothing of it is left. For one that is over it changes nothing. */
  kill(id: string): Promise<JobInfo>;
  /** Resolves when it is over. */
  ended(id: string): Promise<JobInfo>;
  /** In the order in which they were started. */
  list(): Promise<readonly JobInfo[]>;
}

/** Runs programs. A non-zero exit is a result, not an error; failures to run at all reject with `EnvironmentError`. No terminal is attached unless one is asked for; when the call ends, nothing of the process group is left, nor of what left the group where the platform tells of it. */
export interface Executor {
  /** Names of the credentials that commands find in their environment. */
  readonly credentials?: readonly string[];
  execute(request: ExecuteRequest): Promise<ExecuteResponse>;
  /**
   * There where everything that it runs is confined by a sandbox. Gives the effects of a call that runs here with what the sandbox would refuse
   * of them (`CallEffects.confined`). Runs nothing; a tool calls it in its `effectsOf`.
   */
  confine?(effects: CallEffects): Promise<CallEffects> | CallEffects;
  /**
   * Runs programs side by side, each one's stdout the next one's stdin, without a shell. One that ends early is no failure of those
   * before it: they are told that nobody reads, as in a shell.
   */
  pipeline?(stages: readonly PipelineStage[], request?: PipelineRequest): Promise<PipelineResponse>;
  readonly jobs?: Jobs;
  /** The processes of all that it runs now, where the platform tells. */
  processes?(): Promise<readonly ProcessInfo[]>;
}

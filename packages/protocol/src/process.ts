/** A program that runs in a sandbox, or otherwise below an executor. */
export interface ProcessInfo {
  readonly pid: number;
  readonly command: string;
  /** Share of one processor since it began, 0 to 1; more than 1 when it uses several. */
  readonly cpuRatio?: number;
  readonly memoryBytes?: number;
  readonly parentPid?: number;
  readonly state: string;
}

/**
 * A command that was started in the background. `status` is `running`, `exited` (by itself), `killed` (by who started it),
 * `timed-out`, or `failed` (it could not be run, which `message` explains).
 */
export interface JobInfo {
  readonly id: string;
  readonly pid?: number;
  readonly command: string;
  readonly status: string;
  /** Once it is over: `null` when a signal ended it. */
  readonly exitCode?: number | null;
  readonly signal?: string | null;
  readonly message?: string;
  /** Once it is over: as in `ExecuteResponse`. */
  readonly refusedHosts?: readonly string[];
  readonly memoryLimit?: number;
  /** All that it wrote so far, also what is not kept. */
  readonly outputBytes?: number;
  /** How long it has been running, or ran. */
  readonly durationMs?: number;
}

/** One program of a pipeline; each one's output is the next one's input. */
export interface PipelineStage {
  readonly command: string;
  readonly args: readonly string[];
  /** What it writes to stderr goes where its stdout goes. */
  readonly stderrToStdout: boolean;
  /** Wall time after which it and what it started is killed; the others see its output end. */
  readonly timeoutMs?: number;
}

/** A program that runs in a sandbox. */
export interface ProcessInfo {
  readonly pid: number;
  readonly command: string;
  /** Share of one processor, 0 to 1; more than 1 when it uses several. */
  readonly cpuRatio?: number;
  readonly memoryBytes?: number;
  readonly parentPid?: number;
  readonly state: string;
}

/** A command that was started in the background. */
export interface JobInfo {
  readonly id: string;
  readonly pid?: number;
  readonly command: string;
  readonly status: string;
}

/** One program of a pipeline; each one's output is the next one's input. */
export interface PipelineStage {
  readonly command: string;
  readonly args: readonly string[];
  readonly stderrToStdout: boolean;
  readonly timeoutMs?: number;
}

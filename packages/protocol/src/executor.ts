import type { CallEffects } from "./call-effects.ts";

/** One command line or one program with arguments. Exactly one of `command` (given to the shell) and `program`. */
export interface ExecuteRequest {
  readonly command?: string;
  readonly program?: string;
  readonly args?: readonly string[];
  readonly cwd?: string;
  /** Added to the executor's own environment. */
  readonly env?: { readonly [name: string]: string };
  readonly stdin?: string;
  /** Wall time after which the whole process group is killed. */
  readonly timeoutMs?: number;
  /** Bytes kept of stdout and of stderr each (head and tail); the rest is counted, not kept. */
  readonly maxOutputBytes?: number;
  readonly signal?: AbortSignal;
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
  readonly timedOut: boolean;
  readonly durationMs: number;
  /** Ids of processes that it started and that could not be ended with it, where the executor knows of such. */
  readonly left?: readonly number[];
}

/** Runs programs. A non-zero exit is a result, not an error; failures to run at all reject with `EnvironmentError`. No terminal is attached; when the call ends, nothing of the process group is left, nor of what left the group where the platform tells of it. */
export interface Executor {
  /** Names of the credentials that commands find in their environment. */
  readonly credentials?: readonly string[];
  execute(request: ExecuteRequest): Promise<ExecuteResponse>;
  /**
   * There where everything that it runs is confined by a sandbox. Gives the effects of a call that runs here with what the sandbox would refuse
   * of them (`CallEffects.confined`). Runs nothing; a tool calls it in its `effectsOf`.
   */
  confine?(effects: CallEffects): Promise<CallEffects> | CallEffects;
}

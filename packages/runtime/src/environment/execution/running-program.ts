import type { ChildProcess } from "node:child_process";
import type { Readable, Writable } from "node:stream";

export interface ProgramExit {
  readonly exitCode: number | null;
  readonly signal: string | null;
}

/** A program at work, on pipes or on a terminal. Its process id is that of its process group, too. */
export interface RunningProgram {
  readonly pid: number;
  readonly stdin: Writable | undefined;
  /** Absent where it has no stream of its own. */
  readonly stdout: Readable | undefined;
  readonly stderr: Readable | undefined;
  readonly exited: Promise<ProgramExit>;
  /** It ended, and nobody holds its output open. */
  readonly closed: Promise<void>;
  /** Lets go of its streams. */
  destroy(): void;
}

export function runningChild(child: ChildProcess): RunningProgram {
  const { promise: exited, resolve: exit } = Promise.withResolvers<ProgramExit>();
  child.once("exit", (exitCode, signal) => exit({ exitCode, signal }));
  // The child's own `close` never comes where a channel to it was closed from here.
  const streams = child.stdio.filter((stream) => stream !== null && stream !== undefined);
  const closed = Promise.all([exited, ...streams.map((stream) => new Promise((resolve) => stream.once("close", resolve)))]).then(() => {});
  return {
    pid: child.pid as number,
    stdin: child.stdin ?? undefined,
    stdout: child.stdout ?? undefined,
    stderr: child.stderr ?? undefined,
    exited,
    closed,
    destroy() {
      child.stdout?.destroy();
      child.stderr?.destroy();
      child.stdin?.destroy();
    },
  };
}

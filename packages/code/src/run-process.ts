import type { CommandHost } from "./core/command-host.ts";

export interface RunProcessOptions {
  /** The name by which the person calls the program. */
  readonly command: string;
  readonly version: string;
}

/** Runs a program with the streams, signals and variables of this process, and ends the process with its exit code. */
export async function runProcess({ command, version }: RunProcessOptions, program: (host: CommandHost) => Promise<number>): Promise<void> {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      // The reader is gone (`keelson | head`): not worth a stack.
      if (error.code !== "EPIPE") throw error;
    });
  }

  process.exitCode = await program({
    environment: process.env,
    cwd: process.cwd(),
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    signals: process,
    command,
    version,
    now: Date.now,
    exit: (code) => process.exit(code),
  });
  // The process ends even if a tool ignores its signal, or standard input is still open.
  setTimeout(() => process.exit(), 1_000).unref();
}

import { main } from "./main.ts";

/** Runs the command of this process, and ends the process with its exit code. */
export async function startCommand(version: string): Promise<void> {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      // Nobody reads any more (`keelson | head`): not worth a stack.
      if (error.code !== "EPIPE") throw error;
    });
  }

  process.exitCode = await main(process.argv.slice(2), {
    environment: process.env,
    cwd: process.cwd(),
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    signals: process,
    command: "keelson",
    version,
    now: Date.now,
    exit: (code) => process.exit(code),
  });
  // What a run left behind (a tool that ignores its signal, an open pipe on standard input) must not keep the process.
  setTimeout(() => process.exit(), 1_000).unref();
}

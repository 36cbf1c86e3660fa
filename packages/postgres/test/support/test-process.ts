import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

/** A program of `test/processes` at work. */
export interface TestProcess {
  readonly child: ChildProcess;
  readonly lines: AsyncIterableIterator<string>;
  /** Resolves with the exit code, or the signal. */
  readonly exit: Promise<number | string>;
}

export function startProcess(program: string, ...args: readonly (string | number)[]): TestProcess {
  const file = join(import.meta.dirname, "../processes", `${program}.ts`);
  const child = spawn(process.execPath, ["--conditions=source", file, ...args.map(String)], {
    stdio: ["pipe", "pipe", "inherit"],
    // Most of a start is compiling.
    env: { ...process.env, NODE_COMPILE_CACHE: join(tmpdir(), "keelson-postgres-compile-cache") },
  });
  const lines = createInterface({ input: child.stdout as NonNullable<typeof child.stdout> });
  return {
    child,
    lines: lines[Symbol.asyncIterator](),
    exit: once(child, "close").then(([code, signal]) => (code ?? signal) as number | string),
  };
}

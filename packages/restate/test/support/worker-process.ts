import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

export interface WorkerProcess extends AsyncDisposable {
  /** Where it serves. */
  readonly url: string;
  readonly port: number;
  /** What it printed since it was ready. */
  readonly lines: readonly string[];
  /** Resolves with the next line that begins so; rejects where the process ends before. */
  line(beginning: string): Promise<string>;
  /** Lets it go on where it said that it waits. */
  goOn(): void;
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** Resolves when it is gone, with what ended it. */
  readonly gone: Promise<string>;
}

/** Starts a worker (a program of `test/processes`, or one named from there) and waits until it serves. */
export async function startWorker(program: string, args: readonly string[], cwd?: string): Promise<WorkerProcess> {
  const child: ChildProcess = spawn(
    process.execPath,
    ["--conditions=source", join(import.meta.dirname, "../processes", program), ...args],
    {
      cwd,
      stdio: ["pipe", "pipe", "inherit"],
      // Most of a start is compiling.
      env: { ...process.env, NODE_COMPILE_CACHE: join(tmpdir(), "keelson-restate-compile-cache") },
    },
  );
  // It may end before it has read that it may go on; `gone` tells.
  child.stdin?.on("error", () => {});
  const lines: string[] = [];
  const listeners = new Set<() => void>();
  const ring = (): void => listeners.forEach((listener) => listener());
  let isGone = false;
  const gone = once(child, "close").then(([code, signal]) => {
    isGone = true;
    ring();
    return String(signal ?? code);
  });
  createInterface({ input: child.stdout as NodeJS.ReadableStream }).on("line", (line) => {
    lines.push(line);
    ring();
  });
  const line = (beginning: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        const found = lines.find((text) => text.startsWith(beginning));
        if (found === undefined && !isGone) return;
        listeners.delete(look);
        if (found !== undefined) resolve(found);
        else reject(new Error(`The worker ended without a line "${beginning}"; it said ${JSON.stringify(lines)}.`));
      };
      listeners.add(look);
      look();
    });
  const url = (await line("serving ")).slice("serving ".length);
  const worker: WorkerProcess = {
    url,
    port: Number(new URL(url).port),
    lines,
    line,
    gone,
    goOn: () => void child.stdin?.write("\n"),
    async kill(signal = "SIGKILL") {
      if (!isGone) child.kill(signal);
      await gone;
    },
    [Symbol.asyncDispose]: () => worker.kill(),
  };
  return worker;
}

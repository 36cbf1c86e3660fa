import { type ChildProcess, spawn } from "node:child_process";
import { stat } from "node:fs/promises";
import { Readable, type Writable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { setTimeout as sleep } from "node:timers/promises";
import { EnvironmentError, type ExecuteRequest, type ExecuteResponse } from "@keelson/protocol";
import { createKeptOutput, type KeptOutput } from "./kept-output.ts";
import { endProcessGroup, tieToThisProcess } from "./process-group.ts";
import { runningChild, type RunningProgram } from "./running-program.ts";
import { startOnTerminal } from "./terminal.ts";

const DEFAULT_KILL_GRACE_MS = 2000;
const DEFAULT_MAX_OUTPUT_BYTES = 1024 * 1024;
// A process that left the group may hold our pipes open for ever; silence this long after the group's end is the end.
const DRAIN_SILENCE_MS = 100;
const DRAIN_ROUNDS = 10;
// setTimeout takes more for 1 ms.
const MAX_TIMER_MS = 2 ** 31 - 1;

/** A program to start, and how what it leaves behind is found. */
export interface ProcessToRun {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: { readonly [name: string]: string };
  /** A variable in `env`, by which those that leave the group are killed when this process exits. */
  readonly mark: string;
  /** File descriptors from 3 on. */
  readonly descriptors?: readonly ("pipe" | "ipc")[];
  /** Called with the process as soon as there is one; not on a terminal. */
  onStart?(child: ChildProcess): void;
  /** Ends what is left of it after its process group. @returns the ids of those that can't be ended */
  endRest(graceMs: number): Promise<readonly number[]>;
}

/** How a program is wired to others. */
export interface Wiring {
  /** Descriptors of this process that it reads from and writes to, in place of the request's input and of what is gathered. */
  readonly stdin?: number | undefined;
  readonly stdout?: number | undefined;
  /** Called once it runs. */
  onStart?(program: RunningProgram): void;
}

export interface ProcessLimits {
  readonly killGraceMs?: number | undefined;
  readonly maxOutputBytes?: number | undefined;
}

/**
 * Runs it in a process group of its own, gathers its output, and ends all of it: on timeout, on abort (which rejects with
 * `cancelled`), and when it ended by itself but left others running.
 */
export async function runProcess(
  start: ProcessToRun,
  request: ExecuteRequest,
  limits: ProcessLimits,
  wiring: Wiring = {},
): Promise<ExecuteResponse> {
  if (process.platform === "win32")
    throw new EnvironmentError({
      kind: "unsupported",
      message: "Commands need process groups, which Windows does not have. Run inside WSL.",
    });
  if (request.signal?.aborted) throw cancelled(request);
  const startedAt = performance.now();
  const program = await started(start, request, wiring);
  const untie = tieToThisProcess(program.pid, start.mark);
  try {
    wiring.onStart?.(program);
    request.onStart?.({ pid: program.pid });
    return await follow(program, request, {
      endRest: (graceMs) => start.endRest(graceMs),
      killGraceMs: limits.killGraceMs ?? DEFAULT_KILL_GRACE_MS,
      maxOutputBytes: request.maxOutputBytes ?? limits.maxOutputBytes ?? DEFAULT_MAX_OUTPUT_BYTES,
      startedAt,
    });
  } finally {
    untie();
  }
}

async function started(start: ProcessToRun, request: ExecuteRequest, { stdin, stdout }: Wiring): Promise<RunningProgram> {
  const { program, args, cwd, env, descriptors = [] } = start;
  try {
    if (request.pty !== undefined && request.pty !== false) return await startOnTerminal(start, request.pty);
    // `detached` makes a new session: its own process group, and no terminal to ask questions on.
    const child = spawn(program, args, {
      cwd,
      env,
      detached: true,
      stdio: [stdin ?? (request.stdin === undefined ? "ignore" : "pipe"), stdout ?? "pipe", "pipe", ...descriptors],
    });
    const { promise, resolve: done, reject: failed } = Promise.withResolvers<void>();
    child.once("spawn", done).once("error", failed);
    await promise;
    // Before anything else can happen to it: what it says of itself must find a listener.
    const running = runningChild(child);
    start.onStart?.(child);
    return running;
  } catch (error) {
    if (EnvironmentError.is(error)) throw error;
    throw await cannotRun(program, cwd, error);
  }
}

interface Following {
  endRest(graceMs: number): Promise<readonly number[]>;
  readonly killGraceMs: number;
  readonly maxOutputBytes: number;
  readonly startedAt: number;
}

async function follow(
  program: RunningProgram,
  request: ExecuteRequest,
  { endRest, killGraceMs, maxOutputBytes, startedAt }: Following,
): Promise<ExecuteResponse> {
  const { pid: group, exited, closed } = program;
  let stopped: "timeout" | "cancelled" | "callback" | undefined;
  let callbackError: unknown;
  let ended: Promise<readonly number[]> | undefined;
  const end = (): Promise<readonly number[]> => (ended ??= endAll());
  const endAll = async (): Promise<readonly number[]> => {
    if (stopped === "cancelled") {
      // Those that left the group get the signals at the same time, so that all of it is gone after one grace.
      const graceMs = request.cancelGraceMs ?? killGraceMs;
      let isGroupGone = false;
      const groupGone = endProcessGroup(group, graceMs).then(() => void (isGroupGone = true));
      const [left, isAll] = await Promise.all([endRest(graceMs).then((rest) => [rest, isGroupGone] as const), groupGone]).then(
        ([rest]) => rest,
      );
      // The group may have started others after the last look.
      return isAll ? left : endRest(graceMs);
    }
    await endProcessGroup(group, killGraceMs);
    return endRest(killGraceMs);
  };
  const { promise: failed, reject: fail } = Promise.withResolvers<never>();
  const stop = (reason: typeof stopped): void => {
    stopped ??= reason;
    end().catch(fail);
  };

  let received = 0;
  const collect = (stream: "stdout" | "stderr", source: Readable | undefined): KeptOutput => {
    const kept = createKeptOutput(maxOutputBytes, request.blobs);
    const decoder = request.onOutput === undefined ? undefined : new StringDecoder("utf8");
    const tell = (text: string | undefined): void => {
      if (text === undefined || text === "" || stopped === "callback") return;
      try {
        request.onOutput?.(stream, text);
      } catch (error) {
        callbackError = error;
        stop("callback");
      }
    };
    source?.on("data", (chunk: Buffer) => {
      received += chunk.byteLength;
      kept.push(chunk);
      tell(decoder?.write(chunk));
    });
    source?.once("end", () => tell(decoder?.end()));
    return kept;
  };
  const stdout = collect("stdout", program.stdout);
  const stderr = collect("stderr", program.stderr);

  if (request.stdin !== undefined) {
    program.stdin?.on("error", (error: NodeJS.ErrnoException) => {
      // A program need not read what it is given, and may end first.
      if (error.code !== "EPIPE" && error.code !== "ECONNRESET") fail(error);
    });
    if (typeof request.stdin === "string") program.stdin?.end(request.stdin);
    else if (program.stdin !== undefined) feed(program.stdin, request.stdin, fail);
  }
  const timer = request.timeoutMs === undefined ? undefined : setTimeout(stop, Math.min(request.timeoutMs, MAX_TIMER_MS), "timeout");
  const onAbort = (): void => stop("cancelled");
  request.signal?.addEventListener("abort", onAbort, { once: true });
  if (request.signal?.aborted) onAbort(); // while it was being started
  try {
    const { exitCode, signal } = await Promise.race([exited, failed]);
    clearTimeout(timer);
    const left = await end();
    await drained(closed, () => received);
    if (stopped === "callback") throw callbackError;
    if (stopped === "cancelled") throw cancelled(request);
    const [stdoutBlob, stderrBlob] = [await stdout.blob(), await stderr.blob()];
    return {
      exitCode,
      signal,
      stdout: stdout.text(),
      stderr: stderr.text(),
      stdoutBytes: stdout.totalBytes,
      stderrBytes: stderr.totalBytes,
      ...(stdoutBlob && { stdoutBlob }),
      ...(stderrBlob && { stderrBlob }),
      timedOut: stopped === "timeout",
      durationMs: performance.now() - startedAt,
      ...(left.length > 0 && { left }),
    };
  } finally {
    clearTimeout(timer);
    request.signal?.removeEventListener("abort", onAbort);
    program.destroy();
  }
}

/** Writes pieces as they come. Who no longer reads is no failure: its exit tells. */
function feed(input: Writable, pieces: AsyncIterable<string>, fail: (error: unknown) => void): void {
  const source = Readable.from(pieces, { objectMode: true });
  source.once("error", fail);
  input.once("close", () => source.destroy());
  source.pipe(input);
}

async function drained(closed: Promise<void>, received: () => number): Promise<void> {
  for (let round = 0, before = -1; received() !== before && round < DRAIN_ROUNDS; round++) {
    before = received();
    const silence = new AbortController();
    const isClosed = await Promise.race([
      closed.then(() => true),
      sleep(DRAIN_SILENCE_MS, false, { signal: silence.signal }).catch(() => false),
    ]);
    silence.abort();
    if (isClosed) return;
  }
}

function cancelled(request: ExecuteRequest): EnvironmentError {
  return new EnvironmentError(
    { kind: "cancelled", message: "The command was cancelled; its processes are ended." },
    { cause: request.signal?.reason },
  );
}

async function cannotRun(program: string, cwd: string, error: unknown): Promise<EnvironmentError> {
  const code = (error as NodeJS.ErrnoException).code;
  // The system reports a missing folder as if the program were missing.
  const isFolder = await stat(cwd).then(
    (found) => found.isDirectory(),
    () => false,
  );
  const message = !isFolder
    ? `Cannot run ${program}: its working directory ${cwd} is not a folder.`
    : code === "ENOENT"
      ? `Cannot run ${program}: there is no such program. Install it, or give its whole path.`
      : code === "E2BIG"
        ? `Cannot run ${program}: the command line or its environment is too long for this system. Pass long text through stdin or a file.`
        : `Cannot run ${program}: ${error instanceof Error ? error.message : String(error)}`;
  return new EnvironmentError({ kind: "provision-failed", message }, { cause: error });
}

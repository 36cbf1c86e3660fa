import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { stat } from "node:fs/promises";
import { StringDecoder } from "node:string_decoder";
import { setTimeout as sleep } from "node:timers/promises";
import { resolve } from "node:path";
import { EnvironmentError, type ExecuteRequest, type ExecuteResponse, type Executor } from "@keelson/protocol";
import { withoutSecrets } from "./child-environment.ts";
import { createOutputWindow, type OutputWindow } from "./output-window.ts";
import { endProcessGroup, tieToThisProcess } from "./process-group.ts";
import { endStrays } from "./stray-processes.ts";
import { checkOptionNames } from "../../json/option-names.ts";

export interface ProcessExecutorOptions {
  /** Where commands start, unless they say otherwise. */
  readonly cwd: string;
  /** Added to what is inherited. Nothing in it is taken for a secret to be dropped. */
  readonly env?: { readonly [name: string]: string } | undefined;
  /** Inherited variables that are passed on although their names look like secrets (`*_API_KEY`, `*_TOKEN`, …). Default: none. */
  readonly passSecrets?: readonly string[] | "all" | undefined;
  /** Takes `-c` and a command line. Default: bash, else sh. */
  readonly shell?: string | undefined;
  /** From asking a process group to end to killing it. Default 2000. */
  readonly killGraceMs?: number | undefined;
  /** Bytes kept of stdout and of stderr each when a request doesn't say. Default 1 MiB. */
  readonly maxOutputBytes?: number | undefined;
}

const DEFAULT_KILL_GRACE_MS = 2000;
const DEFAULT_MAX_OUTPUT_BYTES = 1024 * 1024;
// Of what is kept, the part that is the beginning; errors and summaries stand at the end.
const HEAD_SHARE = 0.75;
// A process that left the group may hold our pipes open for ever; silence this long after the group's end is the end.
const DRAIN_SILENCE_MS = 100;
const DRAIN_ROUNDS = 10;
// setTimeout takes more for 1 ms.
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * Runs programs on this machine, without isolation, each in a process group of its own that is ended as a whole: on
 * timeout, on abort, and when the command itself ended but left others running. On Linux those that left the group are ended
 * with it; elsewhere they go on. On abort it rejects with `cancelled`. Not for Windows, which has no process groups.
 */
export function createProcessExecutor(options: ProcessExecutorOptions): Executor {
  checkOptionNames("createProcessExecutor", options, {
    cwd: true,
    env: true,
    passSecrets: true,
    shell: true,
    killGraceMs: true,
    maxOutputBytes: true,
  });
  const { killGraceMs = DEFAULT_KILL_GRACE_MS, maxOutputBytes = DEFAULT_MAX_OUTPUT_BYTES } = options;
  const inherited = { ...withoutSecrets(process.env, options.passSecrets ?? []), ...options.env };
  let shell = options.shell;

  return {
    async execute(request) {
      if (process.platform === "win32")
        throw new EnvironmentError({
          kind: "unsupported",
          message: "Commands need process groups, which Windows does not have. Run inside WSL.",
        });
      if (request.signal?.aborted) throw cancelled(request);
      const cwd = resolve(options.cwd, request.cwd ?? ".");
      const env = request.env === undefined ? inherited : { ...inherited, ...request.env };
      const [program, args] =
        request.command === undefined ? [request.program, request.args ?? []] : [(shell ??= defaultShell()), ["-c", request.command]];
      if (program === undefined || (request.command !== undefined && request.program !== undefined)) {
        throw new EnvironmentError({ kind: "other", message: "Exactly one of `command` and `program` says what to run." });
      }
      const startedAt = performance.now();
      // Whatever the command starts inherits it. A name of its own, so that a command of a command has both.
      const mark = `KEELSON_COMMAND_${randomUUID().replaceAll("-", "")}`;
      const child = await start(program, args, cwd, { ...env, [mark]: "1" }, request.stdin !== undefined);
      const untie = tieToThisProcess(child.pid as number, mark);
      try {
        return await follow(child, request, { mark, killGraceMs, maxOutputBytes: request.maxOutputBytes ?? maxOutputBytes, startedAt });
      } finally {
        untie();
      }
    },
  };
}

async function start(
  program: string,
  args: readonly string[],
  cwd: string,
  env: { readonly [name: string]: string },
  withStdin: boolean,
): Promise<ChildProcess> {
  try {
    // `detached` makes a new session: its own process group, and no terminal to ask questions on.
    const child = spawn(program, args, { cwd, env, detached: true, stdio: [withStdin ? "pipe" : "ignore", "pipe", "pipe"] });
    const { promise: spawned, resolve: done, reject: failed } = Promise.withResolvers<void>();
    child.once("spawn", done).once("error", failed);
    await spawned;
    return child;
  } catch (error) {
    throw await cannotRun(program, cwd, error);
  }
}

interface Following {
  /** The variable by which those that leave the group are found. */
  readonly mark: string;
  readonly killGraceMs: number;
  readonly maxOutputBytes: number;
  readonly startedAt: number;
}

async function follow(
  child: ChildProcess,
  request: ExecuteRequest,
  { mark, killGraceMs, maxOutputBytes, startedAt }: Following,
): Promise<ExecuteResponse> {
  const group = child.pid as number;
  let stopped: "timeout" | "cancelled" | "callback" | undefined;
  let callbackError: unknown;
  let ended: Promise<readonly number[]> | undefined;
  const end = (): Promise<readonly number[]> => (ended ??= endProcessGroup(group, killGraceMs).then(() => endStrays(mark, killGraceMs)));
  const { promise: failed, reject: fail } = Promise.withResolvers<never>();
  const stop = (reason: typeof stopped): void => {
    stopped ??= reason;
    end().catch(fail);
  };

  const { promise: closed, resolve: close } = Promise.withResolvers<void>();
  child.once("close", close);
  const { promise: exited, resolve: exit } = Promise.withResolvers<{ exitCode: number | null; signal: string | null }>();
  child.once("exit", (exitCode, signal) => exit({ exitCode, signal }));
  let received = 0;
  const collect = (stream: "stdout" | "stderr"): OutputWindow => {
    const head = Math.ceil(maxOutputBytes * HEAD_SHARE);
    const window = createOutputWindow(head, maxOutputBytes - head);
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
    child[stream]?.on("data", (chunk: Buffer) => {
      received += chunk.byteLength;
      window.push(chunk);
      tell(decoder?.write(chunk));
    });
    child[stream]?.once("end", () => tell(decoder?.end()));
    return window;
  };
  const stdout = collect("stdout");
  const stderr = collect("stderr");

  if (request.stdin !== undefined) {
    child.stdin?.on("error", (error: NodeJS.ErrnoException) => {
      // A program need not read what it is given, and may end first.
      if (error.code !== "EPIPE" && error.code !== "ECONNRESET") fail(error);
    });
    child.stdin?.end(request.stdin);
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
    return {
      exitCode,
      signal,
      stdout: stdout.text(),
      stderr: stderr.text(),
      stdoutBytes: stdout.totalBytes,
      stderrBytes: stderr.totalBytes,
      timedOut: stopped === "timeout",
      durationMs: performance.now() - startedAt,
      ...(left.length > 0 && { left }),
    };
  } finally {
    clearTimeout(timer);
    request.signal?.removeEventListener("abort", onAbort);
    child.stdout?.destroy();
    child.stderr?.destroy();
    child.stdin?.destroy();
  }
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

function defaultShell(): string {
  return ["/bin/bash", "/usr/bin/bash"].find((path) => existsSync(path)) ?? "/bin/sh";
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

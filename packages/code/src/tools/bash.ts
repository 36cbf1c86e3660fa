import type { BlobStore, CallEffects, Executor, ExecuteResponse, PlannedPrograms, Tool, ToolCall, ToolOutput } from "@keelson/protocol";
import { canFindStrays, readCommandLine, startJob } from "keelson/environment";
import { defineTool } from "keelson/tools";
import { createLongOutput, type LongOutput } from "./long-output.ts";
import { plannedPrograms, programsOf } from "./programs-of.ts";
import { createTerminalText, type TerminalText } from "./terminal-text.ts";
import { flag, integer, optional, text, toolInput } from "./tool-input.ts";
import { untrustedOutput } from "./untrusted-output.ts";
import { toolFailure } from "./workspace-files.ts";

export interface BashInput {
  readonly command: string;
  readonly timeout_seconds?: number;
  readonly run_in_background?: boolean;
}
export interface BashOperations {
  readonly exec: Executor;
  /** The jobs that the model ended itself, so that it need not be told. */
  readonly killed?: ReadonlySet<string>;
  /** Where output is kept of which the result has beginning and end only, to be read with `bash_output`. */
  readonly blobs?: Pick<BlobStore, "put"> | undefined;
}

const DEFAULT_TIMEOUT_SECONDS = 60;
const MAX_TIMEOUT_SECONDS = 300;
const HEAD_BYTES = 32 * 1024;
const TAIL_BYTES = 12 * 1024;
// A person follows this; more would only cost.
const PROGRESS_INTERVAL_MS = 100;
const PROGRESS_CHARACTERS = 2000;
// The command's own timeout comes first, with what was printed; this is for an executor that hangs.
const EXECUTOR_SLACK_MS = 30_000;
// Nobody is there to page through output, to type a password, or to see colours.
const ENVIRONMENT = { TERM: "dumb", PAGER: "cat", GIT_PAGER: "cat", GIT_TERMINAL_PROMPT: "0", DEBIAN_FRONTEND: "noninteractive" };

/** Runs a command line in the working directory. */
export function createBashTool({ exec, killed = new Set(), blobs }: BashOperations): Tool<BashInput> {
  return defineTool<BashInput>({
    name: "bash",
    description: `Run a shell command in the project's root and get its output, its exit code and how long it took. Every command starts anew: cd and variables do not last. There is no terminal and no input, so use flags such as --yes. It is ended with all it started when it is done or after timeout_seconds, so what should go on, as a server does, needs run_in_background${canFindStrays() ? "" : " (but what leaves the process group, as with setsid, does: end that yourself)"}. Long output loses its middle${blobs === undefined ? "" : ", which bash_output reads"}.`,
    effect: "write",
    category: "shell",
    risk: "high",
    timeoutMs: MAX_TIMEOUT_SECONDS * 1000 + EXECUTOR_SLACK_MS,
    maxOutputBytes: 2 * (HEAD_BYTES + TAIL_BYTES) + 4096,
    aliases: ["run", "run_command", "run_server", "run_shell", "run_app", "execute", "shell", "terminal"],
    input: toolInput({
      command: text("The command line, for bash."),
      timeout_seconds: optional(
        integer(`After how long it is killed. Default ${DEFAULT_TIMEOUT_SECONDS}, at most ${MAX_TIMEOUT_SECONDS}.`, {
          minimum: 1,
          maximum: MAX_TIMEOUT_SECONDS,
        }),
      ),
      run_in_background: optional(
        flag("Start it and go on: read what it writes with bash_output, end it with kill_bash. It ends with your last answer."),
      ),
    }),
    permissionText: ({ command }) => command,
    async effectsOf({ command }, where) {
      const programs = plannedPrograms(where, exec);
      const effects = withCredentials(await readCommandLine(command, { cwd: where.cwd }), programs);
      return programs.confine?.(effects) ?? effects;
    },
    untrusted: untrustedOutput,

    async execute({ command, timeout_seconds: given, run_in_background = false }, call) {
      if (command.trim() === "") throw toolFailure("bash", "The command is empty.");
      const programs = programsOf(call, exec);
      if (run_in_background) {
        const timeoutMs = given === undefined ? undefined : given * 1000;
        const request = { command, env: ENVIRONMENT, ...(timeoutMs !== undefined && { timeoutMs }), signal: call.signal };
        const { id } = await startJob(call, programs, request, { isTold: (job) => killed.has(job) });
        return `Started in the background as ${id}. Its end will be told. Read its output with bash_output, end it with kill_bash.`;
      }
      const timeout_seconds = given ?? DEFAULT_TIMEOUT_SECONDS;
      const output = { stdout: createReadable(blobs), stderr: createReadable(blobs) };
      const progress = createProgress(call);
      try {
        const response = await programs.execute({
          command,
          env: ENVIRONMENT,
          timeoutMs: timeout_seconds * 1000,
          signal: call.signal,
          onOutput: (stream, piece) => progress.tell(output[stream].push(piece)),
        });
        // An executor need not stream.
        for (const stream of ["stdout", "stderr"] as const) output[stream].finish(response[stream]);
        return await present(response, output.stdout.text, output.stderr.text, timeout_seconds);
      } finally {
        progress.end();
      }
    },
  });
}

/** What changes nothing may show no more of a secret than the executor lets through; all else could send it away. */
function withCredentials(effects: CallEffects, { credentials = [] }: PlannedPrograms): CallEffects {
  const isHarmless = effects.unknown === undefined && effects.commands?.every(({ readOnly }) => readOnly === true);
  return credentials.length === 0 || isHarmless ? effects : { ...effects, secrets: credentials };
}

interface Readable {
  readonly text: LongOutput;
  /** The readable form of what settled. */
  push(piece: string): string;
  finish(whole: string): void;
}

/** Cleans first and bounds afterwards, so that a progress bar does not push out what matters. */
function createReadable(blobs: BashOperations["blobs"]): Readable {
  const text = createLongOutput({ headBytes: HEAD_BYTES, tailBytes: TAIL_BYTES, blobs });
  const terminal: TerminalText = createTerminalText();
  let streamed = false;
  const keep = (settled: string): string => {
    if (settled !== "") text.push(settled);
    return settled;
  };
  return {
    text,
    push(piece) {
      streamed = true;
      return keep(terminal.push(piece));
    },
    finish(whole) {
      if (!streamed) keep(terminal.push(whole));
      keep(terminal.end());
    },
  };
}

async function present(
  { exitCode, signal, timedOut, durationMs, left = [] }: ExecuteResponse,
  stdout: LongOutput,
  stderr: LongOutput,
  timeoutSeconds: number,
): Promise<ToolOutput> {
  const parts = [stdout.shown().trimEnd()];
  const errors = stderr.shown().trimEnd();
  if (errors !== "") parts.push(`STDERR:\n${errors}`);
  const ended = timedOut
    ? `timed out after ${timeoutSeconds} s and was killed with everything it started${timeoutSeconds < MAX_TIMEOUT_SECONDS ? `; set timeout_seconds (at most ${MAX_TIMEOUT_SECONDS}) or take smaller steps` : "; take smaller steps"}`
    : `${exitCode === null ? `killed by ${signal}` : `exit code ${exitCode}`}, ${roundDuration(durationMs)}`;
  parts.push(`[${ended}]`);
  for (const [name, output] of Object.entries({ stdout, stderr })) {
    const rest = await output.keepRest();
    if (rest !== undefined) parts.push(`[${name}: ${rest}]`);
  }
  if (left.length > 0) parts.push(`[still running, as they could not be ended: ${left.map((pid) => `process ${pid}`).join(", ")}]`);
  const result = parts.filter((part) => part !== "").join("\n");
  return exitCode === 0 && !timedOut ? result : { type: "content", content: [{ type: "text", text: result }], isError: true };
}

/** Coarse on purpose: the same quick command gives the same result twice, by which repetition is recognised. */
function roundDuration(durationMs: number): string {
  return durationMs < 1000 ? "under 1 s" : `${Math.round(durationMs / 1000)} s`;
}

/** Shows what is printed while it is printed, not more often than a person can follow. */
function createProgress(call: ToolCall): { tell(settled: string): void; end(): void } {
  let waiting = "";
  let timer: NodeJS.Timeout | undefined;
  const show = (): void => {
    timer = undefined;
    if (waiting === "") return;
    const message = waiting;
    waiting = "";
    call.progress(message);
    timer = setTimeout(show, PROGRESS_INTERVAL_MS);
  };
  return {
    tell(settled) {
      if (settled === "") return;
      waiting = (waiting + settled).slice(-PROGRESS_CHARACTERS);
      if (timer === undefined) show();
    },
    end() {
      clearTimeout(timer);
      timer = undefined;
      waiting = "";
    },
  };
}

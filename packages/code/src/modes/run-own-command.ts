import { EnvironmentError, type ExecuteResponse, type Executor } from "@keelson/protocol";
import { createLongOutput } from "../tools/long-output.ts";
import { createTerminalText } from "../tools/terminal-text.ts";

export interface OwnCommandOptions {
  readonly exec: Executor;
  /** Ends the command with all that it started. */
  readonly signal?: AbortSignal;
  /** Receives the output as it arrives, without control characters. */
  onOutput?(text: string): void;
}

/** A command that a person ran, and what became of it. */
export interface OwnCommand {
  readonly command: string;
  /** Both streams, as they arrived; of a long output the beginning and the end. */
  readonly output: string;
  /** `null` if a signal ended it. */
  readonly exitCode: number | null;
  /** True if the person stopped it. */
  readonly isStopped: boolean;
}

const HEAD_BYTES = 16 * 1024;
const TAIL_BYTES = 8 * 1024;
const STOP_GRACE_MS = 500;
/** There is no terminal for pages, passwords and colours. */
const ENVIRONMENT = { TERM: "dumb", PAGER: "cat", GIT_PAGER: "cat", GIT_TERMINAL_PROMPT: "0" };

/**
 * Runs a command in the shell of the project by the order of a person. The permissions of the agent do not apply.
 * @throws EnvironmentError if it cannot run at all
 */
export async function runOwnCommand(command: string, { exec, signal, onOutput = () => {} }: OwnCommandOptions): Promise<OwnCommand> {
  const long = createLongOutput({ headBytes: HEAD_BYTES, tailBytes: TAIL_BYTES, blobs: undefined });
  const streams = { stdout: createTerminalText(), stderr: createTerminalText() };
  let isStreamed = false;
  const keep = (text: string): void => {
    if (text === "") return;
    long.push(text);
    onOutput(text);
  };
  const finish = (response?: Pick<ExecuteResponse, "stdout" | "stderr">): void => {
    for (const name of ["stdout", "stderr"] as const) {
      // An executor need not stream.
      if (!isStreamed && response !== undefined) keep(streams[name].push(response[name]));
      keep(streams[name].end());
    }
  };
  const ended = (exitCode: number | null, isStopped: boolean): OwnCommand => ({ command, output: long.shown(), exitCode, isStopped });
  try {
    const response = await exec.execute({
      command,
      env: ENVIRONMENT,
      cancelGraceMs: STOP_GRACE_MS,
      ...(signal && { signal }),
      onOutput(stream, text) {
        isStreamed = true;
        keep(streams[stream].push(text));
      },
    });
    finish(response);
    return ended(response.exitCode, false);
  } catch (error) {
    if (signal?.aborted !== true || !EnvironmentError.is(error, "cancelled")) throw error;
    finish();
    return ended(null, true);
  }
}

/** Returns what the agent reads about a command that the person ran. */
export function ownCommandText({ command, output, exitCode, isStopped }: OwnCommand): string {
  const end = isStopped ? "stopped by the person" : exitCode === null ? "ended by a signal" : `exit code ${exitCode}`;
  return [`I ran this command in the project myself: ${command}`, output.trimEnd(), `[${end}]`].filter((part) => part !== "").join("\n");
}

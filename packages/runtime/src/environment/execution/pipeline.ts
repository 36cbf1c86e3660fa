import { closeSync } from "node:fs";
import {
  EnvironmentError,
  type ExecuteRequest,
  type ExecuteResponse,
  type PipelineRequest,
  type PipelineResponse,
  type PipelineStage,
} from "@keelson/protocol";
import { createOutputWindow } from "./output-window.ts";
import { openPipes } from "./named-pipes.ts";
import type { Wiring } from "./run-process.ts";

export type RunCommand = (request: ExecuteRequest, wiring?: Wiring) => Promise<ExecuteResponse>;

const MISSING = "keelson: no such program";
// Only a shell can make one stream of both, in the order in which they are written.
const BOTH_TO_STDOUT = `command -v -- "$1" >/dev/null 2>&1 || { echo "${MISSING}" >&2; exit 127; }\nexec "$@" 2>&1`;

/** Runs the stages side by side, each in a process group of its own. */
export async function runPipeline(
  run: RunCommand,
  stages: readonly PipelineStage[],
  request: PipelineRequest = {},
): Promise<PipelineResponse> {
  if (stages.length === 0) throw new EnvironmentError({ kind: "other", message: "A pipeline has at least one stage." });
  const { stdin, timeoutMs, signal, ...rest } = request;
  const startedAt = performance.now();
  const ending = new AbortController();
  const cancel = (): void => ending.abort(signal?.reason);
  signal?.addEventListener("abort", cancel, { once: true });
  if (signal?.aborted === true) cancel();
  const pipes = await openPipes(stages.length - 1);

  const works = stages.map(async (stage, index) => {
    const limit = Math.min(stage.timeoutMs ?? Number.POSITIVE_INFINITY, timeoutMs ?? Number.POSITIVE_INFINITY);
    const ends = { stdin: pipes[index - 1]?.reading, stdout: pipes[index]?.writing };
    // A pipe ends for one program once nobody else holds its other end, and neither do we.
    const letGo = once(() => {
      for (const end of [ends.stdin, ends.stdout]) if (end !== undefined) closeSync(end);
    });
    try {
      const response = await run(
        {
          ...rest,
          ...programOf(stage),
          ...(index === 0 && stdin !== undefined && { stdin }),
          ...(limit < Number.POSITIVE_INFINITY && { timeoutMs: limit }),
          signal: ending.signal,
        },
        { ...ends, onStart: letGo },
      );
      return checked(stage, response);
    } catch (error) {
      // One that can't run is no pipeline: the others end.
      ending.abort(error);
      throw error;
    } finally {
      letGo();
    }
  });
  try {
    const settled = await Promise.allSettled(works);
    const failed =
      settled.find((result) => result.status === "rejected" && result.reason === ending.signal.reason) ??
      settled.find(({ status }) => status === "rejected");
    if (failed?.status === "rejected") throw failed.reason;
    return responseOf(
      settled.map((result) => (result as PromiseFulfilledResult<ExecuteResponse>).value),
      request,
      performance.now() - startedAt,
    );
  } finally {
    signal?.removeEventListener("abort", cancel);
  }
}

function once(act: () => void): () => void {
  let isDone = false;
  return () => {
    if (!isDone) act();
    isDone = true;
  };
}

function programOf({ command, args, stderrToStdout }: PipelineStage): Pick<ExecuteRequest, "program" | "args"> {
  return stderrToStdout ? { program: "/bin/sh", args: ["-c", BOTH_TO_STDOUT, "sh", command, ...args] } : { program: command, args };
}

function checked({ command, stderrToStdout }: PipelineStage, response: ExecuteResponse): ExecuteResponse {
  if (!stderrToStdout || response.exitCode !== 127 || response.stderr.trim() !== MISSING) return response;
  throw new EnvironmentError({
    kind: "provision-failed",
    message: `Cannot run ${command}: there is no such program. Install it, or give its whole path.`,
  });
}

function responseOf(responses: readonly ExecuteResponse[], { maxOutputBytes }: PipelineRequest, durationMs: number): PipelineResponse {
  const last = responses.at(-1) as ExecuteResponse;
  const failedStage = responses.findLastIndex(({ exitCode, timedOut }) => exitCode !== 0 || timedOut);
  const left = responses.flatMap((response) => response.left ?? []);
  const movedAside = responses.flatMap((response) => response.movedAside ?? []);
  const hiddenFiles = [...new Set(responses.flatMap((response) => response.hiddenFiles ?? []))];
  const stderr = responses.map((response) => response.stderr).join("");
  return {
    ...last,
    stderr: maxOutputBytes === undefined ? stderr : bounded(stderr, maxOutputBytes),
    stderrBytes: responses.reduce((sum, response) => sum + response.stderrBytes, 0),
    timedOut: responses.some(({ timedOut }) => timedOut),
    durationMs,
    ...(left.length > 0 && { left }),
    ...(movedAside.length > 0 && { movedAside }),
    ...(hiddenFiles.length > 0 && { hiddenFiles }),
    stages: responses.map(({ exitCode, signal, timedOut }) => ({ exitCode, signal, timedOut })),
    ...(failedStage >= 0 && { failedStage }),
  };
}

function bounded(text: string, maxBytes: number): string {
  const window = createOutputWindow(Math.ceil(maxBytes / 2), Math.floor(maxBytes / 2));
  window.push(Buffer.from(text, "utf8"));
  return window.text();
}

import { EnvironmentError, type BackgroundJobEnding, type Executor, type JobInfo, type JobRequest, type ToolCall } from "@keelson/protocol";
import { checkOptionNames } from "../../json/option-names.ts";

export interface StartJobOptions {
  /** Whether the model knows how this job ended, since it ended it itself. Default: it does not. */
  readonly isTold?: ((id: string) => boolean) | undefined;
  /** Lines for the model about what the job did. They are asked for when it has ended, and waited for. */
  readonly notes?: (() => Promise<readonly string[]>) | undefined;
}

// The end of the output says most; a tool that polls gives the rest.
const LAST_BYTES = 2000;

/**
 * Starts a command in the background for a tool call, and leaves it to the run: the model is told once when it ends, and it ends with the
 * run. Outside of a run it goes on until it is killed, or this process ends. Where the run has as much at work as it may, it is ended at once.
 */
export async function startJob(
  call: Pick<ToolCall, "follow">,
  executor: Executor,
  request: JobRequest,
  options: StartJobOptions = {},
): Promise<JobInfo> {
  checkOptionNames("startJob", options, { isTold: true, notes: true });
  const { isTold = () => false, notes = async () => [] } = options;
  const { jobs } = executor;
  if (jobs === undefined)
    throw new EnvironmentError({ kind: "unsupported", message: "This executor runs nothing in the background: it has no `jobs`." });
  const started = await jobs.start(request);
  const { id } = started;
  const ended = async (): Promise<BackgroundJobEnding> => {
    try {
      const info = await jobs.ended(id);
      const last = await jobs.poll(id, { after: Math.max(0, (info.outputBytes ?? 0) - LAST_BYTES) });
      const output = last.text.trim() === "" ? "It wrote nothing." : `Its last output:\n${last.text.trimEnd()}`;
      const lines = (await notes()).map((note) => `\n[${note}]`);
      return { text: `${describeEnd(info)}. ${output}${lines.join("")}`, isError: info.exitCode !== 0, isTold: isTold(id) };
    } catch (error) {
      return { text: `how is not known: ${error instanceof Error ? error.message : String(error)}`, isError: true };
    }
  };
  try {
    call.follow?.({ id, name: started.command, ended: ended(), end: () => void jobs.kill(id).catch(() => {}) });
  } catch (error) {
    // Nobody would end it.
    await jobs.kill(id);
    throw error;
  }
  return started;
}

/** How a job is or was, in words: `exit code 1`. */
export function describeEnd({ status, exitCode, signal, message }: JobInfo): string {
  if (status === "running") return "running";
  if (message !== undefined) return `${status}: ${message}`;
  if (status !== "exited") return status;
  return exitCode === null || exitCode === undefined ? `ended by ${signal ?? "a signal"}` : `exit code ${exitCode}`;
}

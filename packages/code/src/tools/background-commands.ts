import { type BlobStore, type Digest, type Executor, type JobInfo, type Jobs, LogError, type Tool } from "@keelson/protocol";
import { defineTool } from "keelson/tools";
import { readLongOutput } from "./long-output.ts";
import { programsOf } from "./programs-of.ts";
import { sandboxNotes } from "./sandbox-notes.ts";
import { createTerminalText } from "./terminal-text.ts";
import { integer, optional, text, toolInput } from "./tool-input.ts";
import { toolFailure } from "./call-files.ts";

const PAGE_BYTES = 32 * 1024;
const MAX_WAIT_SECONDS = 120;
const EXECUTOR_SLACK_MS = 30_000;

/** Reads what a command in the background wrote, and what the result of one in the foreground left out. */
export function createBashOutputTool({
  exec,
  outside,
  blobs,
}: {
  readonly exec: Executor;
  /** Runs commands outside of the sandbox, if `exec` is one. */
  readonly outside?: Executor | undefined;
  readonly blobs?: Pick<BlobStore, "get"> | undefined;
}): Tool<{ readonly id: string; readonly offset?: number; readonly wait_seconds?: number }> {
  /** Where the last reading of each job ended. */
  const read = new Map<string, number>();
  return defineTool({
    name: "bash_output",
    description:
      "Read what a command that was started with run_in_background has written since you last read it, and whether it still runs; or the middle of a long output of bash, by the id and offset that its result gives.",
    effect: "read",
    timeoutMs: MAX_WAIT_SECONDS * 1000 + EXECUTOR_SLACK_MS,
    maxOutputBytes: PAGE_BYTES + 4096,
    aliases: ["job_output", "task_output"],
    input: toolInput({
      id: text("What bash gave: job_… or sha256:…"),
      offset: optional(integer("The byte to read from, to read again or to page. Default: where the last reading ended.", { minimum: 0 })),
      wait_seconds: optional(
        integer(`How long to wait for something new, or for the end. Default 0, at most ${MAX_WAIT_SECONDS}.`, {
          minimum: 0,
          maximum: MAX_WAIT_SECONDS,
        }),
      ),
    }),
    async execute({ id, offset, wait_seconds = 0 }, call) {
      const after = offset ?? read.get(id) ?? 0;
      if (!id.startsWith("job_")) {
        const page = await keptPage(blobs, id, after);
        read.set(id, page.next);
        return `${page.text === "" ? "(nothing there)" : page.text.replace(/\n$/, "")}\n[${page.isLast ? "the end" : `more from offset ${page.next} on`}]`;
      }
      const page = await (
        await jobsWith(id, [programsOf(call, exec), outside])
      ).poll(id, {
        after,
        maxBytes: PAGE_BYTES,
        waitMs: wait_seconds * 1000,
        signal: call.signal,
      });
      read.set(id, page.next);
      const terminal = createTerminalText();
      const output = `${terminal.push(page.text)}${terminal.end()}`.trimEnd();
      const gap = page.from > after ? `[... ${page.from - after} bytes are not kept ...]\n` : "";
      const more = page.next < page.totalBytes ? `; ${page.totalBytes - page.next} more bytes from offset ${page.next} on` : "";
      const notes = sandboxNotes({ ...page.job, stdout: page.text, stderr: "" }, { isConfined: false });
      return [`${gap}${output === "" ? "(nothing new)" : output}\n[${stateOf(page.job)}${more}]`, ...notes].join("\n");
    },
  });
}

/** Ends a command in the background. */
export function createKillBashTool({
  exec,
  outside,
  killed,
}: {
  readonly exec: Executor;
  readonly outside?: Executor | undefined;
  readonly killed: Set<string>;
}): Tool<{ readonly id: string }> {
  return defineTool({
    name: "kill_bash",
    description: "End a command that was started with run_in_background, with all that it started.",
    effect: "idempotent",
    aliases: ["job_kill", "kill_shell", "task_stop"],
    input: toolInput({ id: text("What bash gave: job_…") }),
    async execute({ id }, call) {
      killed.add(id);
      return `[${stateOf(await (await jobsWith(id, [programsOf(call, exec), outside])).kill(id))}]`;
    },
  });
}

async function keptPage(blobs: Pick<BlobStore, "get"> | undefined, id: string, offset: number): ReturnType<typeof readLongOutput> {
  const unknown = `There is no output ${id} here. Give an id as bash gave it.`;
  if (blobs === undefined) throw toolFailure("bash_output", unknown);
  try {
    return await readLongOutput(blobs, id as Digest, { offset, maxBytes: PAGE_BYTES });
  } catch (error) {
    if (LogError.is(error, "not-found") || LogError.is(error, "invalid-input")) throw toolFailure("bash_output", unknown, error);
    throw error;
  }
}

/** Returns the jobs that have this one; those of the first executor if none has. */
async function jobsWith(id: string, [first, ...others]: readonly [Executor, ...(Executor | undefined)[]]): Promise<Jobs> {
  const own = jobsOf(first);
  for (const jobs of [own, ...others.flatMap((executor) => executor?.jobs ?? [])])
    if ((await jobs.list()).some((job) => job.id === id)) return jobs;
  return own;
}

function jobsOf({ jobs }: Executor): Jobs {
  if (jobs === undefined) throw toolFailure("bash_output", "Nothing runs in the background here.");
  return jobs;
}

function stateOf({ id, status, exitCode, signal, message }: JobInfo): string {
  if (message !== undefined) return `${id} ${status}: ${message}`;
  if (status !== "exited") return `${id} ${status}`;
  return `${id} ended with ${exitCode === null || exitCode === undefined ? (signal ?? "a signal") : `exit code ${exitCode}`}`;
}

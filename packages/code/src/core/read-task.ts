import type { RunCommand } from "../options/command-line.ts";
import { type AfterSilence, readStandardInput } from "./read-standard-input.ts";
import type { CommandHost } from "./command-host.ts";

/**
 * The argument, standard input, or both: what comes in through a pipe is what the task is about. Where there is something to do
 * without it, a pipe in which nothing comes is not waited for.
 */
export async function readTask(
  { task, session }: Pick<RunCommand, "task" | "session">,
  { stdin, stderr }: Pick<CommandHost, "stdin" | "stderr">,
  after?: AfterSilence,
): Promise<string | undefined> {
  if (stdin.isTTY) return task;
  const piped = await readStandardInput(stdin, {
    silent: task !== undefined || session.type !== "new" ? "give-up" : "wait",
    onWaiting: (begun) =>
      void stderr.write(
        begun
          ? "keelson: waiting for the end of standard input; whoever writes to it has to close it (or end this with Ctrl-C)\n"
          : "keelson: waiting for the task on standard input; give it as an argument, or end this with Ctrl-C\n",
      ),
    ...(after && { after }),
  });
  if (piped === undefined)
    stderr.write("keelson: nothing came on standard input; going on without it (close it, as with </dev/null, to save this wait)\n");
  const parts = [task, piped?.trim()].filter((part) => part !== undefined && part !== "");
  return parts.length === 0 ? undefined : parts.join("\n\n");
}

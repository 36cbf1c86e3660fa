import {
  type CallEffects,
  EnvironmentError,
  type ExecuteResponse,
  type Executor,
  type JobInfo,
  type PlannedPrograms,
  type Tool,
  type ToolCall,
} from "@keelson/protocol";
import { canFindStrays, readCommandLine, startJob } from "keelson/environment";
import { defineTool } from "keelson/tools";
import { directoryOf, followDirectory, leaveMissingDirectory } from "./call-directory.ts";
import { cancelledEnding, endingOf, silentEnding } from "./command-ending.ts";
import { createCommandOutput, MAX_SHOWN_BYTES, presentCommand } from "./command-output.ts";
import { createProgress } from "./command-progress.ts";
import { commandTimes, MAX_SECONDS, SilenceLimit } from "./command-times.ts";
import { createFirstFailures } from "./first-failures.ts";
import { redirectToPatch, refuseMixedPatch } from "./redirect-to-patch.ts";
import type { BashContext, BashInput, BashOptions, LeavingExecutor } from "./bash-input.ts";
import { historyFor } from "./history-for.ts";
import { plannedPrograms, programsOf } from "./programs-of.ts";
import { sandboxNotes } from "./sandbox-notes.ts";
import { hostJudge, isOutside, revealJudge, withRequests } from "./sandbox-requests.ts";
import { flag, integer, list, optional, text, toolInput } from "./tool-input.ts";
import { untrustedOutput } from "./untrusted-output.ts";
import { withLosses } from "./with-losses.ts";
import { toolFailure } from "./call-files.ts";

// The command's own timeout comes first, with what was printed; this is for an executor that hangs.
const EXECUTOR_SLACK_MS = 30_000;
/** From SIGTERM to SIGKILL when the run is interrupted or aborted: a person waits. */
const CANCEL_GRACE_MS = 100;
// Nobody is there to page through output, to type a password, or to see colours.
const ENVIRONMENT = { TERM: "dumb", PAGER: "cat", GIT_PAGER: "cat", GIT_TERMINAL_PROMPT: "0", DEBIAN_FRONTEND: "noninteractive" };

/** Runs a command line in the working directory. */
export function createBashTool({ exec, leaving, killed = new Set(), blobs }: BashOptions): Tool<BashInput, BashContext> {
  const runsIn = (input: BashInput, call: Pick<ToolCall, "environment">): Executor =>
    isOutside(input, call, { leaving }) ? (leaving?.outside ?? exec) : programsOf(call, exec);
  const failures = createFirstFailures();
  let isTold = false;
  /** Says once that nothing outlives a command. */
  const untold = (): readonly string[] => {
    const reason = leaving?.unavailable;
    if (isTold || reason === undefined) return [];
    isTold = true;
    return [`[/tmp and the loopback network are new for every command here: ${reason}]`];
  };
  return defineTool.for<BashContext>()<BashInput>({
    name: "bash",
    description: `Run a shell command in the working directory and get its output, its exit code and how long it took. A cd lasts for the commands and tools of your next responses if it is in no subshell, the command succeeds and the folder is in the project; variables do not last. There is no terminal and no input, so use flags such as --yes. It is ended with all it started when it is done or after timeout_seconds, so what should go on, as a server does, needs run_in_background${canFindStrays() ? "" : " (but what leaves the process group, as with setsid, does: end that yourself)"}. Long output loses its middle${blobs === undefined ? "" : ", which bash_output reads"}.`,
    effect: "write",
    category: "shell",
    risk: "high",
    timeoutMs: MAX_SECONDS * 1000 + EXECUTOR_SLACK_MS,
    maxOutputBytes: MAX_SHOWN_BYTES,
    aliases: ["run", "run_command", "run_server", "run_shell", "run_app", "execute", "shell", "terminal"],
    input: toolInput({
      command: text("The command line, for bash."),
      timeout_seconds: optional(
        integer(`After how long it is killed. Default 60, at most ${MAX_SECONDS}.`, { minimum: 1, maximum: MAX_SECONDS }),
      ),
      silence_seconds: optional(
        integer(`After how long without any output it is killed. Default: timeout_seconds, from 60 to 300. At most ${MAX_SECONDS}.`, {
          minimum: 1,
          maximum: MAX_SECONDS,
        }),
      ),
      run_in_background: optional(
        flag("Start it and go on: read what it writes with bash_output, end it with kill_bash. It ends with your last answer."),
      ),
      outside: optional(
        flag(
          "Run it outside of the sandbox, for what cannot work inside, such as publishing, SSH or changing .git/config; /tmp is another one there. A person is asked. Give a reason.",
        ),
      ),
      reason: optional(text("Why it must run outside of the sandbox, in one sentence for the person.")),
      hosts: optional(
        list(
          "Hosts that it connects to and does not name, to be opened in the sandbox. A person is asked.",
          text("A name such as registry.example.com."),
        ),
      ),
      publish: optional(
        list(
          "Ports of a server in the sandbox that the person's browser should reach. A person is asked.",
          integer("A port.", { minimum: 1024, maximum: 65535 }),
        ),
      ),
      reveal: optional(
        list(
          "Files that the sandbox hides, because they may hold secrets, and that it needs although it does not name them. A person is asked.",
          text("A path such as .env, relative to the project."),
        ),
      ),
    }),
    permissionText: ({ command }) => command,
    redirect: redirectToPatch,
    async effectsOf(input, where) {
      // A sandbox hides secrets, so that a search need not ask about them.
      const isConfined = !isOutside(input, where, { leaving }) && plannedPrograms(where, exec).confine !== undefined;
      const read = await readCommandLine(input.command, {
        cwd: where.cwd,
        folder: directoryOf(where),
        findSecrets: !isConfined,
        findDestroyed: true,
      });
      const line: CallEffects = changesNothing(read, input) ? { ...read, effect: "read" } : read;
      if (isOutside(input, where, { leaving })) {
        const outside = { reason: input.reason?.trim() || "no reason was given" };
        return withLosses({ ...withCredentials(line, leaving?.outside ?? exec), outside }, where);
      }
      const programs = plannedPrograms(where, exec);
      if (programs.confine === undefined) return withLosses(withCredentials(line, programs), where);
      const confined = await programs.confine(withCredentials(withRequests(line, input, where.cwd), programs));
      return withLosses(confined, where);
    },
    untrusted: untrustedOutput,

    async execute(input, call) {
      const { command, timeout_seconds: given, run_in_background = false, hosts = [], publish = [], reveal = [] } = input;
      refuseMixedPatch(command);
      if (command.trim() === "") throw toolFailure("bash", "The command is empty.");
      const programs = runsIn(input, call);
      const isConfined = programs.confine !== undefined;
      const own = call.environment === undefined ? leaving : undefined;
      const folder = directoryOf(call);
      const gone = await leaveMissingDirectory(call);
      if (gone !== undefined) return gone;
      const line = await readCommandLine(command, { cwd: call.cwd, folder, findDestroyed: true });
      const { destroys } = line;
      const keeping = historyFor(line, call.context.history);
      const judges = isConfined ? { ...hostJudge([...(line.hosts ?? []), ...hosts], call), ...revealJudge(line, reveal, call) } : {};
      const request = {
        command,
        env: ENVIRONMENT,
        signal: call.signal,
        cancelGraceMs: CANCEL_GRACE_MS,
        ...(folder !== "." && { cwd: folder }),
        ...judges,
      };
      if (run_in_background) {
        const timeoutMs = given === undefined ? undefined : given * 1000;
        const isTold = (job: string): boolean => killed.has(job);
        const kept = Promise.withResolvers<readonly string[]>();
        const start = (): Promise<JobInfo> =>
          startJob(call, programs, { ...request, ...(timeoutMs !== undefined && { timeoutMs }) }, { isTold, notes: () => kept.promise });
        const ended = async ({ id }: JobInfo): Promise<unknown> => programs.jobs?.ended(id);
        const { result, notes } = await keeping.around(call, start, { title: command, ended, destroys, onEnd: kept.resolve });
        const { id } = result;
        const published = isConfined ? await publishPorts(publish, own) : [];
        return [
          `Started in the background as ${id}. Its end will be told. Read its output with bash_output, end it with kill_bash.`,
          ...published,
          ...notes.map((note) => `[${note}]`),
        ].join("\n");
      }
      const times = commandTimes(input);
      const output = createCommandOutput(blobs);
      const progress = createProgress(call);
      using silence = new SilenceLimit(times.silence);
      const run = (): Promise<ExecuteResponse> =>
        programs.execute({
          ...request,
          signal: AbortSignal.any([call.signal, silence.signal]),
          reportsDirectory: true,
          timeoutMs: times.total * 1000,
          onOutput(stream, piece) {
            silence.heard();
            progress.tell(output[stream].push(piece));
          },
        });
      try {
        const published = isConfined ? await publishPorts(publish, own) : [];
        const { result: response, notes: kept } = await keeping.around(call, run, { title: command, destroys });
        // An executor need not stream.
        for (const stream of ["stdout", "stderr"] as const) output[stream].finish(response[stream]);
        const ending = endingOf(response, times);
        const moved = ending.isError ? [] : await followDirectory(call, response.directory);
        const shown = `${output.stdout.text.shown()}\n${output.stderr.text.shown()}`;
        const hint = failures.note(call, { command, shown, isError: ending.isError, changesNothing: changesNothing(line, input) });
        const notes = [...published, ...untold(), ...sandboxNotes(response, { isConfined: isConfined && own !== undefined })];
        return await presentCommand(ending, output, [...notes, ...kept.map((note) => `[${note}]`), ...moved, ...hint]);
      } catch (error) {
        if (!EnvironmentError.is(error, "cancelled") || !(call.signal.aborted || silence.signal.aborted)) throw error;
        // It printed this, and may have done what that says.
        for (const stream of ["stdout", "stderr"] as const) output[stream].finish("");
        const ending = call.signal.aborted ? cancelledEnding(call.signal.reason) : silentEnding(times);
        return await presentCommand(ending, output, untold());
      } finally {
        progress.end();
      }
    },
  });
}

/** Publishes ports, one line each: a port that is used on this machine fails no server. */
async function publishPorts(ports: readonly number[], leaving: LeavingExecutor | undefined): Promise<readonly string[]> {
  const lines: string[] = [];
  for (const port of leaving === undefined ? [] : new Set(ports)) {
    try {
      await leaving?.publish(port);
      lines.push(`[port ${port} of the sandbox is http://127.0.0.1:${port}/ on this machine, until the session ends]`);
    } catch (error) {
      if (!EnvironmentError.is(error)) throw error;
      lines.push(`[${error.message}]`);
    }
  }
  return lines;
}

/** True if every command of the line is known to change nothing. A job goes on when its call is over, and what a sandbox opens stays open. */
function changesNothing({ commands = [], unknown, writes, hosts }: CallEffects, input: BashInput): boolean {
  const { run_in_background = false, outside = false, hosts: opened = [], publish = [], reveal = [] } = input;
  const opens = run_in_background || outside || opened.length + publish.length + reveal.length > 0;
  const isRead = commands.every(({ readOnly, caution, asks }) => readOnly === true && caution === undefined && asks === undefined);
  return !opens && isRead && [unknown, writes, hosts].every((found = []) => found.length === 0);
}

/** What changes nothing may show no more of a secret than the executor lets through; all else could send it away. */
function withCredentials(effects: CallEffects, { credentials = [] }: PlannedPrograms): CallEffects {
  const isHarmless = effects.unknown === undefined && effects.commands?.every(({ readOnly }) => readOnly === true);
  return credentials.length === 0 || isHarmless ? effects : { ...effects, secrets: credentials };
}

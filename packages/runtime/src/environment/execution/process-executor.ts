import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { EnvironmentError, type ExecuteRequest, type ExecuteResponse } from "@keelson/protocol";
import { neededToRun, withoutSecrets } from "./child-environment.ts";
import { type CommandExecutor, createExecutor } from "./create-executor.ts";
import { canReportDirectory, DirectoryReport, reportingShell } from "./directory-report.ts";
import { runProcess, type Wiring } from "./run-process.ts";
import { endStrays } from "./stray-processes.ts";
import { checkOptionNames } from "../../json/option-names.ts";
import { BOUND_OPTION } from "../../json/option-rules.ts";

export interface ProcessExecutorOptions {
  /** Where commands start, unless they say otherwise. */
  readonly cwd: string;
  /** Added to what is inherited. Nothing in it is taken for a secret to be dropped. */
  readonly env?: { readonly [name: string]: string } | undefined;
  /** Inherited variables that are passed on although their names or values look like secrets (`*_API_KEY`, `*_TOKEN`, a URL with a password, …). Default: none. */
  readonly passSecrets?: readonly string[] | "all" | undefined;
  /** The variables that commands inherit, also those that look like secrets; `createCommandEnvironment` makes them. Default: this process's variables without those that look like secrets. */
  readonly inherited?: { readonly [name: string]: string } | undefined;
  /** Takes `-c` and a command line. Default: bash, else sh. */
  readonly shell?: string | undefined;
  /** From asking a process group to end to killing it. Default 2000. */
  readonly killGraceMs?: number | undefined;
  /** Bytes kept of stdout and of stderr each when a request doesn't say. Default 1 MiB. */
  readonly maxOutputBytes?: number | undefined;
}

/**
 * Runs programs on this machine, without isolation, each in a process group of its own that is ended as a whole: on
 * timeout, on abort, when the command itself ended but left others running, and when this process ends, however it does. On Linux
 * those that left the group are ended with it; elsewhere they go on. On abort it rejects with `cancelled`. Not for Windows, which has no process groups.
 */
export function createProcessExecutor(options: ProcessExecutorOptions): CommandExecutor {
  checkOptionNames("createProcessExecutor", options, {
    cwd: true,
    env: true,
    passSecrets: true,
    inherited: true,
    shell: true,
    killGraceMs: BOUND_OPTION,
    maxOutputBytes: true,
  });
  const inherited = { ...(options.inherited ?? withoutSecrets(process.env, options.passSecrets ?? [])), ...options.env };
  let shell = options.shell;

  const run = async (request: ExecuteRequest, wiring: Wiring, mark: string): Promise<ExecuteResponse> => {
    const cwd = resolve(options.cwd, request.cwd ?? ".");
    const own = request.inheritEnv === false ? neededToRun(inherited) : inherited;
    const env = request.env === undefined ? own : { ...own, ...request.env };
    const report = mayReport(request) && canReportDirectory((shell ??= defaultShell())) ? new DirectoryReport() : undefined;
    const [program, args] =
      request.command === undefined
        ? [request.program, request.args ?? []]
        : shellCall((shell ??= defaultShell()), request.command, report);
    if (program === undefined || (request.command !== undefined && request.program !== undefined)) {
      throw new EnvironmentError({ kind: "other", message: "Exactly one of `command` and `program` says what to run." });
    }
    const response = await runProcess(
      {
        program,
        args,
        cwd,
        // Whatever the command starts inherits the mark.
        env: { ...env, [mark]: "1" },
        mark,
        ...(report && { descriptors: ["pipe"], onStart: (child) => report.follow(child, REPORT_FD) }),
        endRest: (graceMs) => endStrays(mark, graceMs),
      },
      request,
      options,
      wiring,
    );
    return report?.directory === undefined ? response : { ...response, directory: report.directory };
  };
  // A name of its own, so that a command of a command has both.
  return createExecutor(run, () => `KEELSON_COMMAND_${randomUUID().replaceAll("-", "")}`);
}

/** On a terminal there are no other descriptors. */
function mayReport({ command, reportsDirectory = false, pty = false }: ExecuteRequest): boolean {
  return reportsDirectory && command !== undefined && pty === false;
}

function shellCall(shell: string, command: string, report: DirectoryReport | undefined): readonly [string, readonly string[]] {
  if (report === undefined) return [shell, ["-c", command]];
  const [program = shell, ...args] = reportingShell([shell], command, REPORT_FD);
  return [program, args];
}

/** The number of the descriptor that a shell reports to, when it starts. */
const REPORT_FD = 3;

function defaultShell(): string {
  return ["/bin/bash", "/usr/bin/bash"].find((path) => existsSync(path)) ?? "/bin/sh";
}

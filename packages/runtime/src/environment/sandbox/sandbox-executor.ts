import type { ChildProcess } from "node:child_process";
import { lstat, readFile, realpath } from "node:fs/promises";
import { homedir } from "node:os";
import { isAbsolute, join, relative, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type CallEffects, EnvironmentError, type ExecuteRequest, type ExecuteResponse } from "@keelson/protocol";
import { checkOptionNames } from "../../json/option-names.ts";
import { readCommandLine } from "../command-line/read-command-line.ts";
import { isCredentialFolder } from "../operators/credential-folder.ts";
import { type CommandExecutor, createExecutor } from "../execution/create-executor.ts";
import { runProcess, type Wiring } from "../execution/run-process.ts";
import { bubblewrapArguments } from "./bubblewrap-arguments.ts";
import { type ControlGroup, createControlGroup } from "./control-group.ts";
import { findBubblewrap, programPath } from "./find-bubblewrap.ts";
import { createFilteringProxy, type FilteringProxyOptions } from "./network/filtering-proxy.ts";
import { bridgeScript, bridgeTo, BRIDGE_PROGRAM } from "./network/network-bridge.ts";
import { inheritedDescriptors } from "./inherited-descriptors.ts";
import { parseSize } from "./parse-size.ts";
import { judgeCommands, judgeUnknownCommands } from "./judge-commands.ts";
import { judgeEffects } from "./judge-effects.ts";
import { isWithin, policyPath } from "./policy-path.ts";
import { readSandboxPolicy } from "./read-sandbox-policy.ts";
import { isSafeAtStart, sandboxEnvironment } from "./sandbox-environment.ts";
import { gateScript, keepGate, misplacedMount } from "./sandbox-gate.ts";
import { type Mount, prepareMounts } from "./sandbox-mounts.ts";
import { DEFAULT_PROCESSES, DEFAULT_TEMPORARY_BYTES, type SandboxPolicy } from "./sandbox-policy.ts";
import { createSeccompFilter } from "./seccomp-filter.ts";

export interface SandboxExecutorOptions extends FilteringProxyOptions {
  /** Where commands start, unless they say otherwise, and what relative paths of the policy are relative to. */
  readonly workspace: string;
  /** What variables are passed on from. Default: this process's. */
  readonly env?: { readonly [name: string]: string | undefined } | undefined;
  /** Path of bubblewrap. Default: `bwrap` in `PATH`. */
  readonly bubblewrap?: string | undefined;
  /** Takes `-c` and a command line. Default: bash, else sh. */
  readonly shell?: string | undefined;
  readonly maxOutputBytes?: number | undefined;
}

// In the order in which they are given to bubblewrap.
const STATUS_FD = 3;
const FILTER_FD = 4;
const ARGUMENTS_FD = 5;
const GATE_FD = 6;
const CHANNEL_FD = 7;
const GONE_LIMIT_MS = 10_000;
// What is to be hidden may go between a plan and its mounts; sockets of other programs come and go.
const PLANS = 4;

/**
 * Runs each command in a sandbox of its own, made by bubblewrap from the policy; everything that it started ends with it. Where no
 * such sandbox can be made nothing runs: `execute` rejects with `provision-failed` and the reason.
 * @throws EnvironmentError of kind `provision-failed` when the policy is not understood
 */
export function createSandboxExecutor(policy: SandboxPolicy, options: SandboxExecutorOptions): CommandExecutor {
  checkOptionNames("createSandboxExecutor", options, {
    workspace: true,
    env: true,
    bubblewrap: true,
    shell: true,
    maxOutputBytes: true,
    resolve: true,
    dial: true,
    onDecision: true,
    secrets: true,
  });
  const checked = readSandboxPolicy(policy);
  let found: Promise<string> | undefined;

  const executor = createExecutor(
    async (request, wiring) => {
      if ((request.command === undefined) === (request.program === undefined))
        throw new EnvironmentError({ kind: "other", message: "Exactly one of `command` and `program` says what to run." });
      if (request.pty !== undefined && request.pty !== false)
        throw new EnvironmentError({
          kind: "unsupported",
          message:
            "A command in a sandbox has no terminal (`pty`): it would share one with this process. Run `script` in it, which makes one inside.",
        });
      found ??= findBubblewrap(options.bubblewrap, await writableFolders(checked, options.workspace));
      // What a pipeline was wired to is gone after one start.
      const starts = wiring.stdin === undefined && wiring.stdout === undefined ? PLANS : 1;
      for (let left = starts - 1; ; left--) {
        const response = await runInSandbox(await found, checked, options, request, { wiring, mayPlanAgain: left > 0 });
        if (response !== "stale plan") return response;
      }
    },
    // The kernel ends all of a sandbox: nothing leaves it that would have to be found.
    () => "",
  );
  return {
    ...executor,
    ...(options.secrets && { credentials: Object.keys(options.secrets.env) }),
    async confine(effects: CallEffects): Promise<CallEffects> {
      const given = resolve(options.workspace);
      const workspace = await realpath(given).catch(() => given);
      // A path below the workspace may be written either way.
      const inWorkspace = (path: string): string => (isWithin(path, given) ? join(workspace, relative(given, path)) : path);
      const { reads = [], writes = [] } = effects;
      const placed = { ...effects, reads: reads.map(inWorkspace), writes: writes.map(inWorkspace) };
      return {
        ...effects,
        confined: { refused: judgeEffects(checked, placed, { workspace, home: homedir() }), reaches: reachOf(checked) },
      };
    },
  };
}

function reachOf({ network }: SandboxPolicy): "none" | "listed" | "any" {
  if (network?.enabled !== true) return "none";
  return network.allowedDomains === undefined ? "any" : "listed";
}

async function runInSandbox(
  bubblewrap: string,
  policy: SandboxPolicy,
  options: SandboxExecutorOptions,
  request: ExecuteRequest,
  { wiring, mayPlanAgain }: { readonly wiring: Wiring; readonly mayPlanAgain: boolean },
): Promise<ExecuteResponse | "stale plan"> {
  const workspace = await realpath(resolve(options.workspace)).catch(() => resolve(options.workspace));
  await checkCommands(policy, request, workspace);
  const filter = createSeccompFilter();
  if (filter === undefined) throw cannot(`system calls of ${process.arch} are not known to it`);
  const env = { ...sandboxEnvironment(policy, options.env ?? process.env), ...options.secrets?.env, ...request.env };
  const limits = await limitArguments(policy);
  const bash = options.shell === undefined ? await programPath("/bin/bash") : undefined;
  // Where its standard input is a socket, bash takes itself for the shell of a remote user and would load `~/.bashrc`.
  const shell = bash === undefined ? [options.shell ?? "/bin/sh"] : [bash, "--norc"];
  const command = request.command === undefined ? [request.program ?? "", ...(request.args ?? [])] : [...shell, "-c", request.command];
  const node = await realpath(process.execPath);
  const withNetwork = policy.network?.enabled === true;
  const variables = Object.entries(env);
  const late = variables.filter(([name]) => !isSafeAtStart(name)).map(([name, value]) => `${name}=${value}`);
  const steps = [
    gateScript(GATE_FD),
    ...(withNetwork ? [bridgeScript(CHANNEL_FD)] : []),
    `exec "$@" ${[GATE_FD, ...(withNetwork ? [CHANNEL_FD] : [])].map((descriptor) => `${descriptor}>&-`).join(" ")}`,
  ];
  const bridge = withNetwork ? [node, BRIDGE_PROGRAM] : [];
  const start = ["/bin/sh", "-c", steps.join("\n"), "sh", ...bridge, ...limits, "/usr/bin/env", ...late, ...command];

  const credentials = request.env?.["KEELSON_CREDENTIALS"];
  await using mounts = await prepareMounts(
    policy,
    workspace,
    credentials !== undefined && isCredentialFolder(credentials) ? [credentials] : [],
  );
  const processes = policy.resources?.processes ?? DEFAULT_PROCESSES;
  const group = await createControlGroup({ processes, memory: sizeOf(policy.resources?.memory) });
  // The kernel counts no processes of the first user: for it there is only the group.
  if (group?.boundsProcesses !== true && policy.resources?.processes !== undefined && process.getuid?.() === 0)
    throw cannot("the number of processes of the root user can't be limited without a control group, and none can be made here");
  const args = bubblewrapArguments({
    mounts: mounts.mounts,
    showsAll: policy.filesystem?.readableRoots === undefined,
    programs: withNetwork ? [node] : [],
    cwd: resolve(workspace, request.cwd ?? "."),
    temporaryBytes: parseSize(policy.resources?.temporary ?? DEFAULT_TEMPORARY_BYTES) ?? DEFAULT_TEMPORARY_BYTES,
    hiddenPrograms: await deniedPrograms(policy),
    variables: variables.filter(([name]) => isSafeAtStart(name)),
    filterFd: FILTER_FD,
    statusFd: STATUS_FD,
  });
  const proxy = withNetwork ? createFilteringProxy(policy.network, options) : undefined;
  const status = new SandboxStatus();
  const bwrap = [bubblewrap, "--args", String(ARGUMENTS_FD), "--", ...start];
  const [program = "", ...rest] = await enclosed(bwrap, group);
  let unbridge = (): void => {};
  let refusal = (): unknown => undefined;
  try {
    const response = await runProcess(
      {
        program,
        args: rest,
        cwd: "/",
        // What bubblewrap is started with can be read in the sandbox.
        env: {},
        mark: "",
        descriptors: ["pipe", "pipe", "pipe", "pipe", ...(withNetwork ? (["ipc"] as const) : [])],
        onStart(child) {
          status.follow(child);
          give(child, FILTER_FD, filter);
          give(child, ARGUMENTS_FD, args.map((argument) => `${argument}\0`).join(""));
          refusal = keepGate(child, GATE_FD, async () => {
            const wrong = await misplacedMount(mounts.mounts, await status.first);
            if (wrong !== undefined) throw cannot(wrong);
          });
          if (proxy !== undefined) unbridge = bridgeTo(child, proxy);
        },
        endRest: () => status.gone(),
      },
      request,
      { maxOutputBytes: options.maxOutputBytes, killGraceMs: undefined },
      wiring,
    );
    const refused = refusal();
    const hasBegun = refused === undefined && (response.signal !== null || response.timedOut || status.hasStarted);
    if (!hasBegun && mayPlanAgain && (await hasVanished(mounts.mounts))) return "stale plan";
    if (refused !== undefined) throw EnvironmentError.is(refused) ? refused : cannot(String(refused));
    if (!hasBegun) throw cannot(`bubblewrap says: ${response.stderr.trim() || "nothing"}`);
    if (withNetwork && response.exitCode === 125 && response.stderr === "") throw cannot("the bridge to its network did not start");
    if (request.program !== undefined && response.exitCode === 127 && response.stderr.startsWith("/usr/bin/env: "))
      throw new EnvironmentError({
        kind: "provision-failed",
        message: `Cannot run ${request.program} in the sandbox: there is no such program. Install it, or give its whole path.`,
      });
    return response;
  } finally {
    unbridge();
    proxy?.close();
    await group?.remove();
  }
}

/** Something that was to be hidden, such as the socket of a program that ended, isn't there any more. */
async function hasVanished(mounts: readonly Mount[]): Promise<boolean> {
  const hidden = mounts.filter(({ as }) => as === "hidden-file" || as === "hidden-folder");
  const there = await Promise.all(
    hidden.map(({ path }) =>
      lstat(path).then(
        () => true,
        () => false,
      ),
    ),
  );
  return there.includes(false);
}

/** The command through a shell that enters the control groups, lets go of what we have open, and becomes the command. */
async function enclosed(command: readonly string[], group: ControlGroup | undefined): Promise<readonly string[]> {
  const descriptors = (await inheritedDescriptors()).filter((descriptor) => descriptor > CHANNEL_FD);
  if (group === undefined && descriptors.length === 0) return command;
  // Others than bash read no number of two digits before `>`.
  const bash = await programPath("/bin/bash");
  if (bash === undefined && descriptors.some((descriptor) => descriptor > 9))
    throw cannot(`this process was started with open files (${descriptors.join(", ")}), which only bash could keep from the command`);
  const steps = [
    ...(group?.entries ?? []).map(() => 'echo 0 >"$1" || exit 125; shift'),
    `exec "$@"${descriptors.map((descriptor) => ` ${descriptor}>&-`).join("")}`,
  ];
  return [...(bash === undefined ? ["/bin/sh"] : [bash, "--norc"]), "-c", steps.join("\n"), "sh", ...(group?.entries ?? []), ...command];
}

/** What bubblewrap tells of itself: JSON, an object a line. */
class SandboxStatus {
  #text = "";
  #first = Promise.withResolvers<number>();

  follow(child: ChildProcess): void {
    const stream = child.stdio[STATUS_FD];
    if (stream === null || stream === undefined || !("on" in stream)) return;
    stream.on("data", (chunk: Buffer) => {
      this.#text += chunk.toString("latin1");
      const first = this.#firstTold();
      if (first !== undefined) this.#first.resolve(first);
    });
    stream.on("error", () => stream.destroy());
  }

  /** The first process of the sandbox, by its number here. */
  get first(): Promise<number> {
    return this.#first.promise;
  }

  #firstTold(): number | undefined {
    const told = /"child-pid": (\d+)/.exec(this.#text)?.[1];
    return told === undefined ? undefined : Number(told);
  }

  /** The command itself was reached: before that, bubblewrap tells of no exit code. */
  get hasStarted(): boolean {
    return this.#text.includes('"exit-code"');
  }

  /** Resolves when the first process of the sandbox is gone: the kernel ends all others before it. @returns what is left */
  async gone(): Promise<readonly number[]> {
    const first = this.#firstTold();
    if (first === undefined) return [];
    for (let waited = 0, pause = 1; waited < GONE_LIMIT_MS; waited += pause, pause = Math.min(50, pause * 2)) {
      const stat = await readFile(`/proc/${first}/stat`, "latin1").catch(() => "");
      const state = stat.slice(stat.lastIndexOf(")") + 2)[0];
      if (state === undefined || state === "Z" || state === "X") return [];
      try {
        process.kill(first, "SIGKILL");
      } catch {
        return [];
      }
      await sleep(pause);
    }
    return [first];
  }
}

function give(child: ChildProcess, descriptor: number, content: Buffer | string): void {
  const stream = child.stdio[descriptor];
  if (stream === null || stream === undefined || !("end" in stream)) return;
  // It may end before it has read everything; its exit tells why.
  stream.on("error", () => stream.destroy());
  stream.end(content);
}

async function limitArguments({ resources = {} }: SandboxPolicy): Promise<string[]> {
  const limits = {
    nproc: resources.processes ?? DEFAULT_PROCESSES,
    data: sizeOf(resources.memory),
    fsize: sizeOf(resources.fileSize),
    nofile: resources.openFiles,
    cpu: resources.cpuSeconds,
    // A dump of memory could hold what the command was told. With 0 the kernel still hands it to a program that takes dumps; one byte
    // is no dump for anybody (core(5)).
    core: 1,
  };
  const prlimit = (await programPath("/usr/bin/prlimit")) ?? (await programPath("/bin/prlimit"));
  if (prlimit === undefined) throw cannot("its limits need prlimit, of the package util-linux");
  return [prlimit, ...Object.entries(limits).flatMap(([name, value]) => (value === undefined ? [] : [`--${name}=${value}`])), "--"];
}

function sizeOf(given: number | string | undefined): number | undefined {
  return given === undefined ? undefined : parseSize(given);
}

async function writableFolders({ filesystem }: SandboxPolicy, workspace: string): Promise<string[]> {
  const roots = (filesystem?.writableRoots ?? [workspace]).map((path) => policyPath(path, resolve(workspace)));
  return Promise.all(roots.map((path) => realpath(path).catch(() => path)));
}

/** Where the denied programs stand in the command's `PATH` and in the usual folders. */
async function deniedPrograms({ commands, environment }: SandboxPolicy): Promise<string[]> {
  const folders = [
    ...(environment?.set?.["PATH"] ?? process.env["PATH"] ?? "").split(":"),
    "/usr/local/bin",
    "/usr/bin",
    "/bin",
    "/usr/sbin",
    "/sbin",
  ];
  const found = new Set<string>();
  for (const program of commands?.denied ?? [])
    for (const path of isAbsolute(program) ? [program] : folders.filter(isAbsolute).map((folder) => join(folder, program))) {
      const real = await realpath(path).catch(() => undefined);
      if (real !== undefined) found.add(real);
    }
  return [...found];
}

/** A command line is judged as far as it can be read; what can't be read is refused where only some programs are allowed. */
async function checkCommands({ commands }: SandboxPolicy, request: ExecuteRequest, cwd: string): Promise<void> {
  if (commands === undefined) return;
  const effects = request.command === undefined ? programEffects(request.program ?? "") : await readCommandLine(request.command, { cwd });
  const [refused] = [...judgeCommands(commands, effects), ...judgeUnknownCommands(commands, effects)];
  if (refused !== undefined) throw new EnvironmentError({ kind: "isolation-violation", message: `The command was not run. ${refused}` });
}

function programEffects(program: string): CallEffects {
  return { commands: [{ text: program }] };
}

function cannot(reason: string): EnvironmentError {
  return new EnvironmentError({ kind: "provision-failed", message: `Commands can't be run in a sandbox here: ${reason}.` });
}

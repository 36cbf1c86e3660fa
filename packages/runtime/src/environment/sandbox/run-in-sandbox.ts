import type { ChildProcess } from "node:child_process";
import { lstat, realpath } from "node:fs/promises";
import { resolve } from "node:path";
import { Duplex } from "node:stream";
import { type CallEffects, EnvironmentError, type ExecuteRequest, type ExecuteResponse } from "@keelson/protocol";
import { readCommandLine } from "../command-line/read-command-line.ts";
import { neededToRun } from "../execution/child-environment.ts";
import { isCredentialFolder } from "../operators/credential-folder.ts";
import { canReportDirectory, DirectoryReport, reportingShell } from "../execution/directory-report.ts";
import { runProcess, type Wiring } from "../execution/run-process.ts";
import { bubblewrapArguments } from "./bubblewrap-arguments.ts";
import { cannotRun } from "./cannot-run.ts";
import { deniedPrograms } from "./denied-programs.ts";
import { enclosedCommand } from "./enclosed-command.ts";
import { type SteeringReport, withSteeringReport } from "./steering-report.ts";
import { hideSecrets, withHidden } from "./hide-secrets.ts";
import { findBubblewrap, programPath } from "./find-bubblewrap.ts";
import { createFilteringProxy, type NetworkDecision } from "./network/filtering-proxy.ts";
import { bridgeScript, bridgeTo, BRIDGE_PROGRAM } from "./network/network-bridge.ts";
import { judgeCommands, judgeUnknownCommands } from "./judge-commands.ts";
import { parseSize } from "./parse-size.ts";
import { isShare } from "./memory-size.ts";
import { watchMemory } from "./memory-watch.ts";
import { isWithin, policyPath } from "./policy-path.ts";
import { controlGroupFor, limitArguments, memoryOf, reachedMemory, withoutMemory } from "./resource-limits.ts";
import { isSafeAtStart, sandboxEnvironment } from "./sandbox-environment.ts";
import type { SandboxExecutorOptions } from "./sandbox-executor-options.ts";
import { gateScript, keepGate, misplacedMount } from "./sandbox-gate.ts";
import { type Mount, prepareMounts } from "./sandbox-mounts.ts";
import { OWN_PLACE, type SandboxPlace } from "./sandbox-place.ts";
import { DEFAULT_TEMPORARY_BYTES, type SandboxPolicy } from "./sandbox-policy.ts";
import { SandboxStatus } from "./sandbox-status.ts";
import { lastingFolders, ownSession } from "./session/sandbox-session.ts";
import { createSeccompFilter } from "./seccomp-filter.ts";

// In the order in which they are given to bubblewrap.
const STATUS_FD = 3;
const FILTER_FD = 4;
const ARGUMENTS_FD = 5;
const GATE_FD = 6;
/** The number, in the sandbox, of the descriptor whose other end `SandboxWiring.onLink` is given. */
export const LINK_FD: number = 7;
// What is to be hidden may go between a plan and its mounts; sockets of other programs come and go.
const PLANS = 4;

/** How a program in a sandbox is wired to others. */
export interface SandboxWiring extends Wiring {
  /** Folders that it can read in any case, unless they are denied or lie in what it may write. */
  readonly shown?: readonly string[];
  /** It gets one more descriptor, `LINK_FD`, to read from and to write to: this is told the other end, once for each start. */
  onLink?(link: Duplex): void;
  /** Called where the kernel ended it, or what it started, for the memory that they held. */
  onOutOfMemory?(): void;
}

/** Runs one command in a sandbox of its own. */
export type SandboxRun = (request: ExecuteRequest, wiring: SandboxWiring) => Promise<ExecuteResponse>;

/** What a command runs in. */
export interface SandboxWorkspace {
  /** It was read. */
  readonly policy: SandboxPolicy;
  readonly folder: string;
  readonly place: SandboxPlace;
}

/** How commands are run in sandboxes that are made from a policy, which was read. */
export function createSandboxRun(policy: SandboxPolicy, options: SandboxExecutorOptions): SandboxRun {
  return createWorkspaceRun((work) => work({ policy, folder: options.workspace, place: OWN_PLACE }), options);
}

/** As `createSandboxRun`, where `use` gives each command its workspace, and keeps it as it is while the command runs. */
export function createWorkspaceRun(
  use: <T>(work: (workspace: SandboxWorkspace) => Promise<T>) => Promise<T>,
  options: Omit<SandboxExecutorOptions, "workspace">,
): SandboxRun {
  let found: Promise<string> | undefined;
  // Includes entries of aborted commands: the next result names them.
  const report: SteeringReport = { movedAside: [], notices: [], kept: [] };
  return async (request, wiring) => {
    if ((request.command === undefined) === (request.program === undefined))
      throw new EnvironmentError({ kind: "other", message: "Exactly one of `command` and `program` says what to run." });
    if (request.pty !== undefined && request.pty !== false)
      throw new EnvironmentError({
        kind: "unsupported",
        message:
          "A command in a sandbox has no terminal (`pty`): it would share one with this process. Run `script` in it, which makes one inside.",
      });
    return use(async (workspace) => {
      found ??= findBubblewrap(options.bubblewrap, await writableFolders(workspace.policy, workspace.folder));
      // What a pipeline was wired to, and what was taken of its input, is gone after one start.
      const isWired = wiring.stdin !== undefined || wiring.stdout !== undefined || typeof request.stdin === "object";
      const starts = isWired ? 1 : PLANS;
      for (let left = starts - 1; ; left--) {
        const response = await runInSandbox(await found, workspace, options, request, {
          wiring,
          mayPlanAgain: left > 0,
          report,
        });
        if (response !== "stale plan")
          return withSteeringReport(response, report, { workspace: await realFolder(workspace.folder), request });
      }
    });
  };
}

async function runInSandbox(
  bubblewrap: string,
  { policy, folder, place }: SandboxWorkspace,
  options: Omit<SandboxExecutorOptions, "workspace">,
  request: ExecuteRequest,
  { wiring, mayPlanAgain, report }: { readonly wiring: SandboxWiring; readonly mayPlanAgain: boolean; readonly report: SteeringReport },
): Promise<ExecuteResponse | "stale plan"> {
  const workspace = await realFolder(folder);
  await checkCommands(policy, request, workspace);
  const filter = createSeccompFilter();
  if (filter === undefined) throw cannotRun(`system calls of ${process.arch} are not known to it`);
  const inherited = options.env ?? process.env;
  const own = request.inheritEnv === false ? neededToRun(inherited) : inherited;
  const env = { ...sandboxEnvironment(policy, own), ...options.secrets?.env, ...request.env };
  const bash = options.shell === undefined ? await programPath("/bin/bash") : undefined;
  // Where its standard input is a socket, bash takes itself for the shell of a remote user and would load `~/.bashrc`.
  const shell = bash === undefined ? [options.shell ?? "/bin/sh"] : [bash, "--norc"];
  const node = await realpath(process.execPath);
  const session = ownSession(options.session);
  const temporaryBytes = parseSize(policy.resources?.temporary ?? DEFAULT_TEMPORARY_BYTES) ?? DEFAULT_TEMPORARY_BYTES;
  // An overlay is mounted in namespaces of its own.
  const held =
    session === undefined || place !== OWN_PLACE
      ? undefined
      : await session.hold(bubblewrap, temporaryBytes, await writableFolders(policy, workspace));
  const hasNetwork = policy.network?.enabled === true;
  if (held !== undefined && policy.network?.enabled === true) await session?.serveNetwork(held, policy.network, options);
  const withNetwork = hasNetwork && held === undefined;
  const withLink = wiring.onLink !== undefined;
  const channel = withLink ? LINK_FD + 1 : GATE_FD + 1;
  const folderReport = request.reportsDirectory === true && canReportDirectory(shell[0] ?? "") ? new DirectoryReport() : undefined;
  const reportFd = GATE_FD + Number(withLink) + Number(withNetwork) + 1;
  const last = folderReport === undefined ? reportFd - 1 : reportFd;
  const command =
    request.command === undefined
      ? [request.program ?? "", ...(request.args ?? [])]
      : folderReport === undefined
        ? [...shell, "-c", request.command]
        : reportingShell(shell, request.command, reportFd);
  const variables = Object.entries(env);
  const late = variables.filter(([name]) => !isSafeAtStart(name)).map(([name, value]) => `${name}=${value}`);
  const steps = [
    gateScript(GATE_FD),
    ...(withNetwork ? [bridgeScript(channel)] : []),
    `exec "$@" ${[GATE_FD, ...(withNetwork ? [channel] : [])].map((descriptor) => `${descriptor}>&-`).join(" ")}`,
  ];
  const bridge = withNetwork ? [node, BRIDGE_PROGRAM] : [];
  const group = await controlGroupFor(policy);
  await using _ = { [Symbol.asyncDispose]: async () => group?.remove() };
  // Where all of it is bounded together, Node need not fit into what one process may reserve.
  const isShared = isShare(policy.resources?.memory);
  const limits = await limitArguments(isShared || (group?.boundsMemory === true && withLink) ? withoutMemory(policy) : policy);
  const watched = isShared && group?.boundsMemory !== true ? memoryOf(policy.resources ?? {}) : undefined;
  const start = ["/bin/sh", "-c", steps.join("\n"), "sh", ...bridge, ...limits, "/usr/bin/env", ...late, ...command];

  const credentials = request.env?.["KEELSON_CREDENTIALS"];
  const shown = credentials !== undefined && isCredentialFolder(credentials) ? [credentials] : [];
  const hiding = hideSecrets(policy, { workspace, place, request });
  await using mounts = await prepareMounts(hiding.policy, workspace, [...shown, ...(wiring.shown ?? [])], place, report);
  const showsAll = policy.filesystem?.readableRoots === undefined;
  const isNodeDenied = mounts.mounts.some(({ path, as }) => as === "hidden-folder" && isWithin(node, path));
  const hiddenPrograms = await deniedPrograms(policy);
  // Commands and MCP servers are started with the Node that runs Keelson, which may be in a folder that a sandbox has of its own, as below /tmp.
  const programs = withNetwork || withLink || (showsAll && !isNodeDenied) ? [node] : [];
  const mounted = [...mounts.mounts.map(({ path }) => path), ...programs, ...hiddenPrograms];
  const args = bubblewrapArguments({
    mounts: mounts.mounts,
    showsAll,
    programs,
    lasting: held && lastingFolders(held, mounted, temporaryBytes),
    cwd: resolve(workspace, request.cwd ?? "."),
    temporaryBytes,
    hiddenPrograms,
    variables: variables.filter(([name]) => isSafeAtStart(name)),
    filterFd: FILTER_FD,
    statusFd: STATUS_FD,
  });
  using following = session?.follow(request);
  const note = (decision: NetworkDecision): void => {
    if (decision.isUnlisted === true) refusedHosts.add(`${decision.host}:${decision.port}`);
    options.onDecision?.(decision);
  };
  const refusedHosts = new Set<string>();
  const judge = request.judgeHost?.bind(request);
  const proxy = withNetwork ? createFilteringProxy(policy.network, { ...options, judge, onDecision: note }) : undefined;
  const status = new SandboxStatus();
  using watch = watched === undefined ? undefined : watchMemory(status.first, { limit: watched });
  const user = place.user === undefined ? [] : ["--uid", String(place.user.uid), "--gid", String(place.user.gid)];
  const bwrap = [...place.enter, ...(held?.enter ?? []), bubblewrap, ...user, "--args", String(ARGUMENTS_FD), "--", ...start];
  const [program = "", ...rest] = await enclosedCommand(bwrap, group, last);
  let unbridge = (): void => {};
  let refusal = (): unknown => undefined;
  let isOpen = false;
  // Until its gate is open it is not the command that runs and speaks: its plan may be stale.
  const onOutput = (stream: "stdout" | "stderr", text: string): void => void (isOpen && request.onOutput?.(stream, text));
  try {
    const response = await runProcess(
      {
        program,
        args: rest,
        cwd: "/",
        // What bubblewrap is started with can be read in the sandbox.
        env: {},
        mark: "",
        descriptors: [
          ...(["pipe", "pipe", "pipe", "pipe"] as const),
          ...(withLink ? (["pipe"] as const) : []),
          ...(withNetwork ? (["ipc"] as const) : []),
          ...(folderReport ? (["pipe"] as const) : []),
        ],
        onStart(child) {
          folderReport?.follow(child, reportFd);
          status.follow(child, STATUS_FD);
          give(child, FILTER_FD, filter);
          give(child, ARGUMENTS_FD, args.map((argument) => `${argument}\0`).join(""));
          refusal = keepGate(child, GATE_FD, async () => {
            const wrong = await misplacedMount(mounts.mounts, await status.first, await place.mountTable());
            if (wrong !== undefined) throw cannotRun(wrong);
            isOpen = true;
            if (child.pid !== undefined) request.onStart?.({ pid: child.pid });
          });
          if (proxy !== undefined) unbridge = bridgeTo(child, proxy);
          const link = withLink ? child.stdio[LINK_FD] : undefined;
          if (link instanceof Duplex) wiring.onLink?.(link);
        },
        endRest: () => status.gone(),
      },
      { ...request, onStart() {}, ...(request.onOutput && { onOutput }) },
      { maxOutputBytes: options.maxOutputBytes, killGraceMs: undefined },
      wiring,
    );
    if (wiring.onOutOfMemory !== undefined && (await group?.ranOutOfMemory()) === true) wiring.onOutOfMemory();
    const refused = refusal();
    const hasBegun = refused === undefined && (response.signal !== null || response.timedOut || status.hasStarted);
    if (!hasBegun && mayPlanAgain && (await hasVanished(mounts.mounts, place))) return "stale plan";
    if (refused !== undefined) throw EnvironmentError.is(refused) ? refused : cannotRun(String(refused));
    if (!hasBegun) throw cannotRun(`bubblewrap says: ${response.stderr.trim() || "nothing"}`);
    if (withNetwork && response.exitCode === 125 && response.stderr === "") throw cannotRun("the bridge to its network did not start");
    if (request.program !== undefined && response.exitCode === 127 && response.stderr.startsWith("/usr/bin/env: "))
      throw new EnvironmentError({
        kind: "provision-failed",
        message: `Cannot run ${request.program} in the sandbox: there is no such program. Install it, or give its whole path.`,
      });
    const refusedConnections = [...refusedHosts, ...(following?.refused ?? [])];
    const memoryLimit = watch?.hasEnded === true ? watched : await reachedMemory(policy, group, response);
    return {
      ...withHidden(response, hiding.hidden, request),
      ...(memoryLimit !== undefined && { memoryLimit }),
      ...(folderReport?.directory !== undefined && { directory: folderReport.directory }),
      ...(refusedConnections.length > 0 && { refusedHosts: refusedConnections }),
    };
  } finally {
    unbridge();
    proxy?.close();
  }
}

/** Something that was to be hidden, such as the socket of a program that ended, isn't there any more. */
async function hasVanished(mounts: readonly Mount[], { disk }: SandboxPlace): Promise<boolean> {
  const hidden = mounts.filter(({ as }) => as === "hidden-file" || as === "hidden-folder");
  const there = await Promise.all(
    hidden.map(({ path }) =>
      lstat(disk.locate(path)).then(
        () => true,
        () => false,
      ),
    ),
  );
  return there.includes(false);
}

function give(child: ChildProcess, descriptor: number, content: Buffer | string): void {
  const stream = child.stdio[descriptor];
  if (stream === null || stream === undefined || !("end" in stream)) return;
  // It may end before it has read everything; its exit tells why.
  stream.on("error", () => stream.destroy());
  stream.end(content);
}

function realFolder(folder: string): Promise<string> {
  return realpath(resolve(folder)).catch(() => resolve(folder));
}

async function writableFolders({ filesystem }: SandboxPolicy, workspace: string): Promise<string[]> {
  const roots = [...(filesystem?.writableRoots ?? [workspace]), ...(filesystem?.cacheFolders ?? [])].map((path) =>
    policyPath(path, resolve(workspace)),
  );
  return Promise.all(roots.map((path) => realpath(path).catch(() => path)));
}

/** A command line is judged as far as it can be read; what can't be read is refused where only some programs are allowed. */
async function checkCommands({ commands }: SandboxPolicy, request: ExecuteRequest, cwd: string): Promise<void> {
  if (commands === undefined) return;
  const effects =
    request.command === undefined
      ? programEffects(request.program ?? "")
      : await readCommandLine(request.command, { cwd, folder: request.cwd });
  const [refused] = [...judgeCommands(commands, effects), ...judgeUnknownCommands(commands, effects)];
  if (refused !== undefined) throw new EnvironmentError({ kind: "isolation-violation", message: `The command was not run. ${refused}` });
}

function programEffects(program: string): CallEffects {
  return { commands: [{ text: program }] };
}

import { realpath } from "node:fs/promises";
import { homedir } from "node:os";
import { join, relative, resolve } from "node:path";
import type { CallEffects } from "@keelson/protocol";
import { checkOptionNames } from "../../json/option-names.ts";
import { type CommandExecutor, createExecutor } from "../execution/create-executor.ts";
import { policyPath } from "./policy-path.ts";
import { hiddenNames } from "./denied-programs.ts";
import { isTracked } from "./is-tracked.ts";
import { judgeEffects } from "./judge-effects.ts";
import { OWN_FOLDERS } from "./judge-files.ts";
import { unlistedHosts } from "./judge-hosts.ts";
import { isWithin } from "./policy-path.ts";
import { readSandboxPolicy } from "./read-sandbox-policy.ts";
import { createWorkspaceRun, type SandboxWorkspace } from "./run-in-sandbox.ts";
import type { SandboxExecutorOptions } from "./sandbox-executor-options.ts";
import { OWN_PLACE } from "./sandbox-place.ts";
import { ownSession } from "./session/sandbox-session.ts";
import type { SandboxPolicy } from "./sandbox-policy.ts";

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
    session: true,
  });
  const read = readSandboxPolicy(policy);
  const workspace = { policy: options.session === undefined ? read : withNetwork(read), folder: options.workspace, place: OWN_PLACE };
  const executor = createWorkspaceExecutor(options, { now: () => workspace, use: (work) => work(workspace) });
  ownSession(options.session)?.bind(executor);
  return executor;
}

/** As `createSandboxExecutor`, for a workspace that can be another with each command: `use` keeps it as it is while one runs. */
export function createWorkspaceExecutor(
  options: Omit<SandboxExecutorOptions, "workspace">,
  { now, use }: { now(): SandboxWorkspace; use<T>(work: (workspace: SandboxWorkspace) => Promise<T>): Promise<T> },
): CommandExecutor {
  // The kernel ends all of a sandbox: nothing leaves it that would have to be found.
  const executor = createExecutor(createWorkspaceRun(use, options), () => "");
  return {
    ...executor,
    ...(options.secrets && { credentials: Object.keys(options.secrets.env) }),
    async confine(effects: CallEffects): Promise<CallEffects> {
      const { policy, folder } = now();
      const given = resolve(folder);
      const workspace = await realpath(given).catch(() => given);
      // A path below the workspace may be written either way.
      const inWorkspace = (path: string): string => (isWithin(path, given) ? join(workspace, relative(given, path)) : path);
      const { reads = [], writes = [] } = effects;
      const placed = { ...effects, reads: reads.map(inWorkspace), writes: writes.map(inWorkspace) };
      // A host that may be opened is asked about, and not refused.
      const closed = options.session === undefined ? [] : unlistedHosts(policy.network, effects);
      const judged = { ...placed, ...(effects.hosts && { hosts: effects.hosts.filter((host) => !closed.includes(host)) }) };
      const hides = await hiddenNames(policy);
      const denied = (policy.filesystem?.deniedPaths ?? []).map((path) => policyPath(path, given, homedir()));
      // Programs of any kind can read the repository.
      const hidesFiles = denied.filter((path) => !isTracked(path));
      return {
        ...effects,
        // The processes of the machine are not there, and their variables neither.
        ...(effects.reads && { reads: reads.filter((path) => !/^\/proc\/.+\/(?:environ|mem)$/.test(path)) }),
        confined: {
          refused: judgeEffects(policy, judged, { workspace, home: homedir() }),
          reaches: reachOf(policy),
          ...(closed.length > 0 && { closed }),
          ownFolders: [...OWN_FOLDERS, "/dev"],
          ...(hides.length > 0 && { hides }),
          ...(hidesFiles.length > 0 && { hidesFiles }),
        },
      };
    },
  };
}

/** A session can open hosts where a policy says nothing about the network; where it says that there is none, it holds. */
function withNetwork(policy: SandboxPolicy): SandboxPolicy {
  return policy.network === undefined ? { ...policy, network: { enabled: true, allowedDomains: [] } } : policy;
}

function reachOf({ network }: SandboxPolicy): "none" | "listed" | "any" {
  if (network?.enabled !== true) return "none";
  return network.allowedDomains === undefined ? "any" : "listed";
}

import { realpath } from "node:fs/promises";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import {
  EnvironmentError,
  toEnvironmentError,
  type Environment,
  type EnvironmentSpec,
  type SecretResolver,
  type Vfs,
} from "@keelson/protocol";
import { checkOptionNames } from "../../json/option-names.ts";
import { createDiskVfs } from "../files/disk-vfs.ts";
import { PRIVATE_FOLDERS } from "../sandbox/bubblewrap-arguments.ts";
import { policyFileAccess } from "../sandbox/policy-file-access.ts";
import { isWithin, policyPath } from "../sandbox/policy-path.ts";
import { policyOfSpec } from "../sandbox/policy-of-spec.ts";
import { readSandboxPolicy } from "../sandbox/read-sandbox-policy.ts";
import { createSandboxRun } from "../sandbox/run-in-sandbox.ts";
import { createSandboxExecutor } from "../sandbox/sandbox-executor.ts";
import type { SandboxExecutorOptions } from "../sandbox/sandbox-executor-options.ts";
import type { SandboxPolicy } from "../sandbox/sandbox-policy.ts";
import { beforeRequests } from "../execution/before-requests.ts";
import { atEnvironmentBoundary } from "./at-environment-boundary.ts";
import { checkProvided, type Provided } from "./check-provided.ts";
import { codeOfModule } from "./code-of-module.ts";
import { heapFlags } from "./heap-flags.ts";
import { heldCredentials } from "./held-credentials.ts";
import { injectCredentials } from "./inject-credentials.ts";
import type { OperatorLink } from "./operator-link.ts";
import { OperatorProcess } from "./operator-process.ts";
import { startInSandbox } from "./sandbox-link.ts";
import { BOUND_OPTION } from "../../json/option-rules.ts";

export interface SandboxEnvironmentOptions {
  /** The module that calls `serveOperator`: a path or a file URL. It and its package can be read in the sandbox. Without one it runs no operators. */
  readonly module?: string | URL | undefined;
  /** Arguments of the module. Default: none. */
  readonly args?: readonly string[] | undefined;
  /** How long an operator may take to end once its run is aborted. Default 2000. */
  readonly killGraceMs?: number | undefined;
  /** Where commands start, where files are, and what relative paths of a policy are relative to. */
  readonly workspace: string;
  /** The most that it allows; a spec, and so an agent's `sandbox`, only takes away from it. Default: what the spec asks for. */
  readonly policy?: SandboxPolicy | undefined;
  /** Resolves the credentials of a spec. */
  readonly secrets?: SecretResolver | undefined;
  /** How commands are run. */
  readonly executor?: Omit<SandboxExecutorOptions, "workspace" | "session"> | undefined;
}

const PROVIDED: Provided = {
  name: "The sandbox environment",
  boundaries: ["process", "network-policy"],
  resources: ["memory", "cpu"],
  injections: ["env-var", "file"],
  hasNetworkRules: true,
  hasSandboxes: true,
};

/**
 * Holds the tools of a run in a sandbox that bubblewrap makes: their commands, and in the same bounds their files. Where no sandbox can be
 * made, no run begins. With a `module` it runs operators, each in a process within a sandbox of its own, with the execution context of its run
 * over messages.
 *
 * ```ts
 * const agent = createAgent({ name, model, tools, sandbox: { enabled: true } });
 * createRunner({ agent, environment: createSandboxEnvironment({ workspace: process.cwd() }) });
 * ```
 *
 * Rejects with EnvironmentError: `provision-failed` with what is missing and what to do; `credential-failed`; for operators also
 * `resource-exceeded`, `cancelled`, and `operator-error` with what the operator failed with, or that its process ended.
 * @throws EnvironmentError of kind `provision-failed` when the policy is not understood
 */
export function createSandboxEnvironment(options: SandboxEnvironmentOptions): Environment {
  checkOptionNames("createSandboxEnvironment", options, {
    module: true,
    args: true,
    killGraceMs: BOUND_OPTION,
    workspace: true,
    policy: true,
    secrets: true,
    executor: true,
  });
  const { module, args = [], killGraceMs = 2000, secrets } = options;
  const path = module instanceof URL || module?.startsWith("file:") ? fileURLToPath(module) : module && resolve(module);
  const most = options.policy && readSandboxPolicy(options.policy);
  const held = async (spec: EnvironmentSpec): Promise<Held> => {
    checkProvided(spec, PROVIDED);
    const workspace = await workspaceOf(options);
    return { policy: await policyOfSpec(spec, most, workspace), executor: { ...options.executor, workspace } };
  };
  return {
    async run(input, spec, context) {
      const { policy, executor } = await held(spec);
      if (path === undefined) throw notProvided(`${PROVIDED.name} was made without a \`module\` to run`);
      if (policy.commands?.allowed !== undefined)
        throw notProvided("Only some programs are allowed (`allowedCommands`), and what an operator starts is not read beforehand");
      const heap = heapFlags(spec);
      await using credentials = await injectCredentials(spec.credentials, secrets, context.signal);
      try {
        await checkRoots(policy);
        const code = await codeToShow(path, policy, executor.workspace);
        const started = { args: [...heap, path, ...args], cwd: executor.workspace, env: credentials.env, code, killGraceMs };
        const link = async (): Promise<OperatorLink> => startInSandbox(createSandboxRun(policy, executor), started);
        await using operator = await OperatorProcess.start(link, started, context.signal);
        return await operator.execute(input, context);
      } catch (error) {
        throw atEnvironmentBoundary(error);
      }
    },

    async open(spec, { signal }) {
      const { policy, executor } = await held(spec);
      await checkStarts(policy, executor, signal);
      const exec = beforeRequests(createSandboxExecutor(policy, executor), async (place) => {
        await checkRoots(policy);
        return place;
      });
      const files = await filesOf(policy, executor.workspace);
      return { files, exec: await heldCredentials(exec, spec.credentials, secrets, signal), async [Symbol.asyncDispose]() {} };
    },
  };
}

interface Held {
  readonly policy: SandboxPolicy;
  readonly executor: SandboxExecutorOptions;
}

async function workspaceOf({ workspace }: SandboxEnvironmentOptions): Promise<string> {
  return realpath(resolve(workspace)).catch((error: unknown) => {
    const message = `The workspace ${workspace} of the sandbox environment is not there: make it, or name another folder.`;
    throw new EnvironmentError({ kind: "provision-failed", message }, { cause: error });
  });
}

/** What the module imports, where it would not be seen otherwise: in a folder that sandboxes have of their own, or beside the readable roots. */
async function codeToShow(module: string, { filesystem = {} }: SandboxPolicy, workspace: string): Promise<readonly string[]> {
  const folder = await codeOfModule(module);
  const { readableRoots, writableRoots = [workspace], deniedPaths = [] } = filesystem;
  const isSeen = readableRoots === undefined && !PRIVATE_FOLDERS.some((hidden) => isWithin(folder, hidden));
  const isOthers = [...writableRoots, ...deniedPaths].some((path) => isWithin(folder, policyPath(path, workspace)));
  return isSeen || isOthers ? [] : [folder];
}

function notProvided(why: string): EnvironmentError {
  return new EnvironmentError({
    kind: "provision-failed",
    message: `${why}. Change that, or use another environment for the operator.`,
  });
}

/** Whatever keeps this policy from being held is known before anything is asked of it. */
async function checkStarts({ commands: _, ...policy }: SandboxPolicy, options: SandboxExecutorOptions, signal: AbortSignal): Promise<void> {
  const { exitCode, stderr } = await createSandboxExecutor(policy, options).execute({ program: "true", cwd: "/", signal });
  if (exitCode !== 0)
    throw new EnvironmentError({
      kind: "provision-failed",
      message: `A sandbox could not be started (exit code ${exitCode}): ${stderr.trim() || "it said nothing"}.`,
    });
}

/** A command of another run could put a link in the place of a root that is within one of its own. */
async function checkRoots({ filesystem }: SandboxPolicy): Promise<void> {
  for (const root of filesystem?.writableRoots ?? []) {
    const leadsTo = await realpath(root).catch((error: unknown) => {
      throw toEnvironmentError(error);
    });
    if (leadsTo !== root)
      throw new EnvironmentError({
        kind: "isolation-violation",
        message: `The command was not run: the writable root ${root} was replaced by a link to ${leadsTo}. Put the folder back.`,
      });
  }
}

async function filesOf(policy: SandboxPolicy, workspace: string): Promise<Vfs> {
  const { writableRoots = [], readableRoots = [] } = policy.filesystem ?? {};
  const allowed = [...new Set([...writableRoots, ...readableRoots])].filter((root) => !isWithin(root, workspace));
  return createDiskVfs({ root: workspace, allowed, access: await policyFileAccess(policy, workspace) });
}

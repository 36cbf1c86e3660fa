import { realpath } from "node:fs/promises";
import { resolve } from "node:path";
import { EnvironmentError, toEnvironmentError, type Environment, type Executor, type SecretResolver, type Vfs } from "@keelson/protocol";
import { checkOptionNames } from "../../json/option-names.ts";
import { createDiskVfs } from "../files/disk-vfs.ts";
import { policyFileAccess } from "../sandbox/policy-file-access.ts";
import { isWithin } from "../sandbox/policy-path.ts";
import { policyOfSpec } from "../sandbox/policy-of-spec.ts";
import { readSandboxPolicy } from "../sandbox/read-sandbox-policy.ts";
import { createSandboxExecutor, type SandboxExecutorOptions } from "../sandbox/sandbox-executor.ts";
import type { SandboxPolicy } from "../sandbox/sandbox-policy.ts";
import { checkProvided, type Provided } from "./check-provided.ts";
import { heldCredentials } from "./held-credentials.ts";
import { beforeRequests } from "../execution/before-requests.ts";

export interface SandboxEnvironmentOptions {
  /** Where commands start, where files are, and what relative paths of a policy are relative to. */
  readonly workspace: string;
  /** The most that it allows; a spec, and so an agent's `sandbox`, only takes away from it. Default: what the spec asks for. */
  readonly policy?: SandboxPolicy | undefined;
  /** Resolves the credentials of a spec. */
  readonly secrets?: SecretResolver | undefined;
  /** How commands are run. */
  readonly executor?: Omit<SandboxExecutorOptions, "workspace"> | undefined;
}

const PROVIDED: Provided = {
  name: "The sandbox environment",
  boundaries: ["process", "network-policy"],
  resources: ["memory"],
  injections: ["env-var", "file"],
  hasNetworkRules: true,
  hasSandboxes: true,
};

/**
 * Holds the tools of a run in a sandbox that bubblewrap makes: their commands, and in the same bounds their files. Where no sandbox can be
 * made, no run begins.
 *
 * ```ts
 * const agent = createAgent({ name, model, tools, sandbox: { enabled: true, deniedCommands: [] } });
 * createRunner({ agent, environment: createSandboxEnvironment({ workspace: process.cwd() }) });
 * ```
 *
 * Rejects with EnvironmentError: `provision-failed` with what is missing and what to do, `credential-failed`.
 * @throws EnvironmentError of kind `provision-failed` when the policy is not understood
 */
export function createSandboxEnvironment(options: SandboxEnvironmentOptions): Environment {
  checkOptionNames("createSandboxEnvironment", options, { workspace: true, policy: true, secrets: true, executor: true });
  const { workspace: folder, secrets } = options;
  const most = options.policy && readSandboxPolicy(options.policy);
  return {
    async run(_input, spec) {
      checkProvided(spec, PROVIDED);
      throw new EnvironmentError({
        kind: "provision-failed",
        message: `${PROVIDED.name} holds the tools of runs, and runs no operators. Use createProcessEnvironment for those.`,
      });
    },

    async open(spec, { signal }) {
      checkProvided(spec, PROVIDED);
      const workspace = await realpath(resolve(folder)).catch((error: unknown) => {
        const message = `The workspace ${folder} of the sandbox environment is not there: make it, or name another folder.`;
        throw new EnvironmentError({ kind: "provision-failed", message }, { cause: error });
      });
      const policy = await policyOfSpec(spec, most, workspace);
      await checkStarts(policy, { ...options.executor, workspace }, signal);
      const exec = whileRootsStay(policy, createSandboxExecutor(policy, { ...options.executor, workspace }));
      const files = await filesOf(policy, workspace);
      return { files, exec: await heldCredentials(exec, spec.credentials, secrets, signal), async [Symbol.asyncDispose]() {} };
    },
  };
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
function whileRootsStay({ filesystem }: SandboxPolicy, executor: Executor): Executor {
  return beforeRequests(executor, async (place) => {
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
    return place;
  });
}

async function filesOf(policy: SandboxPolicy, workspace: string): Promise<Vfs> {
  const { writableRoots = [], readableRoots = [] } = policy.filesystem ?? {};
  const allowed = [...new Set([...writableRoots, ...readableRoots])].filter((root) => !isWithin(root, workspace));
  return createDiskVfs({ root: workspace, allowed, access: await policyFileAccess(policy, workspace) });
}

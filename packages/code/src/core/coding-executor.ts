import { delimiter, dirname } from "node:path";
import type { Executor, PermissionRule } from "@keelson/protocol";
import { createProcessExecutor, createSandboxExecutor, createSandboxSession, findSecretFiles } from "keelson/environment";
import type { Policy } from "keelson/security";
import type { LeavingExecutor } from "../tools/bash-input.ts";
import { codingPolicy } from "./coding-policy.ts";
import { commandEnvironment } from "./command-environment.ts";
import { secretLines } from "./secret-notice.ts";

/** The executors for the commands of a run. */
export interface CodingExecutors {
  readonly exec: Executor;
  /** Present if `exec` is a sandbox. */
  readonly leaving?: LeavingExecutor;
}

/**
 * Runs what the agent writes.
 * @param sandbox commands run in a sandbox of the policy; without a policy they may write in the project, and there is no network
 */
export function createCodingExecutor(cwd: string, options: CodingExecutorOptions): Executor {
  return createCodingExecutors(cwd, options).exec;
}

export interface CodingExecutorOptions {
  readonly sandbox: boolean;
  readonly policy?: Policy | undefined;
  /** All rules of the run: the sandbox hides programs that they deny. */
  readonly rules?: readonly PermissionRule[];
  /** Variables of settings. A policy can give others in the sandbox. */
  readonly variables?: { readonly [name: string]: string };
  /** Folders beside the project that commands may write. */
  readonly folders?: readonly string[];
  /** The folder of Keelson. Absent: commands in the sandbox have no caches of packages that they can write. */
  readonly home?: string | undefined;
}

/** The same, with the way out of the sandbox. */
export function createCodingExecutors(
  cwd: string,
  { sandbox, policy, rules = [], variables = {}, folders = [], home }: CodingExecutorOptions,
): CodingExecutors {
  // Commands find the Node that runs Keelson first, so that a project's `node` is one that there is.
  const path = [dirname(process.execPath), process.env["PATH"]].filter(Boolean).join(delimiter);
  const outside = createProcessExecutor({
    cwd,
    inherited: commandEnvironment(policy, { sandbox: false }).variables,
    env: { ...variables, PATH: path },
  });
  if (!sandbox) return { exec: outside };
  const session = createSandboxSession();
  const env = { ...process.env, PATH: path };
  const exec = createSandboxExecutor(codingPolicy(policy?.sandbox ?? {}, { cwd, rules, variables, folders, home, env }), {
    workspace: cwd,
    env,
    session,
  });
  const leaving: LeavingExecutor = {
    outside,
    get unavailable() {
      return session.unavailable;
    },
    publish: (port) => session.publish(port),
  };
  return { exec, leaving };
}

/** The same ways out of the sandbox, with other programs outside of it. */
export function withOutside(leaving: LeavingExecutor, outside: Executor): LeavingExecutor {
  return {
    outside,
    get unavailable() {
      return leaving.unavailable;
    },
    publish: (port) => leaving.publish(port),
  };
}

/** Makes a sandbox of the policy once. @throws EnvironmentError with the reason if none can be made */
export async function checkSandbox(cwd: string, policy: Policy | undefined): Promise<void> {
  await createSandboxExecutor(policy?.sandbox ?? {}, { workspace: cwd }).execute({ program: "true" });
}

/** For the model, which otherwise learns of each limit by running into it. */
export function sandboxLines(
  cwd: string,
  { sandbox: { filesystem = {}, network, commands } }: Pick<Policy, "sandbox"> = { sandbox: {} },
): string {
  const { writableRoots = ["the project"], deniedPaths = [] } = filesystem;
  const opened = "others have to be opened with `hosts` of bash, which a person decides";
  const hosts =
    network?.enabled === false
      ? "There is no network"
      : network !== undefined && network.allowedDomains === undefined
        ? "Public hosts can be reached"
        : `Of the network only ${network?.allowedDomains?.join(", ") || "no host"} can be reached; ${opened}`;
  return [
    `Commands run in a sandbox: they can write only in ${writableRoots.join(", ")} and in /tmp. /tmp and the loopback network last for the session, so that a server in the background answers later commands.`,
    `${hosts}.`,
    "Files that other programs obey (AGENTS.md, .github, .vscode, .npmrc, git hooks and their like) are read-only for commands, and new ones are moved aside: change them with write_file or edit_file, which asks.",
    "What cannot work inside runs with `outside: true` and a reason; a person decides.",
    ...(filesystem.hideSecrets === false ? [] : secretLines(findSecretFiles(cwd))),
    ...(deniedPaths.length > 0 ? [`These are hidden: ${deniedPaths.join(", ")}.`] : []),
    ...(commands?.allowed !== undefined ? [`Only these programs run: ${commands.allowed.join(", ")}.`] : []),
    ...(commands?.denied !== undefined && commands.denied.length > 0 ? [`These programs don't: ${commands.denied.join(", ")}.`] : []),
  ].join(" ");
}

import { delimiter, dirname } from "node:path";
import type { Executor } from "@keelson/protocol";
import { createProcessExecutor, createSandboxExecutor } from "keelson/environment";
import type { Policy } from "keelson/security";
import { commandEnvironment } from "./command-environment.ts";

/**
 * Runs what the agent writes.
 * @param sandbox commands run in a sandbox of the policy; without a policy they may write in the project, and there is no network
 */
export function createCodingExecutor(
  cwd: string,
  { sandbox, policy }: { readonly sandbox: boolean; readonly policy?: Policy | undefined },
): Executor {
  // Commands find the Node that runs Keelson first, so that a project's `node` is one that there is.
  const path = [dirname(process.execPath), process.env["PATH"]].filter(Boolean).join(delimiter);
  if (!sandbox) return createProcessExecutor({ cwd, inherited: commandEnvironment(policy, { sandbox }).variables, env: { PATH: path } });
  return createSandboxExecutor(policy?.sandbox ?? {}, { workspace: cwd, env: { ...process.env, PATH: path } });
}

/** @throws EnvironmentError with the reason where no sandbox can be made here: then nothing of the agent may run */
export async function checkSandbox(commands: Executor): Promise<void> {
  await commands.execute({ program: "true" });
}

/** For the model, which otherwise learns of each limit by running into it. */
export function sandboxLines({ sandbox: { filesystem = {}, network, commands } }: Pick<Policy, "sandbox"> = { sandbox: {} }): string {
  const { writableRoots = ["the project"], deniedPaths = [] } = filesystem;
  const hosts =
    network?.enabled !== true
      ? "There is no network"
      : network.allowedDomains === undefined
        ? "Public hosts can be reached"
        : `Of the network only ${network.allowedDomains.join(", ") || "nothing"} can be reached`;
  return [
    `Commands run in a sandbox: they can write only in ${writableRoots.join(", ")} and in /tmp, which is empty at the start of every command.`,
    `${hosts}.`,
    ...(deniedPaths.length > 0 ? [`These are hidden: ${deniedPaths.join(", ")}.`] : []),
    ...(commands?.allowed !== undefined ? [`Only these programs run: ${commands.allowed.join(", ")}.`] : []),
    ...(commands?.denied !== undefined && commands.denied.length > 0 ? [`These programs don't: ${commands.denied.join(", ")}.`] : []),
  ].join(" ");
}

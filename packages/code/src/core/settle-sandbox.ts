import { EnvironmentError } from "@keelson/protocol";
import type { Policy } from "keelson/security";
import { checkSandbox } from "./coding-executor.ts";
import type { Launch } from "./launch.ts";

export interface SettledSandbox {
  readonly launch: Launch & { readonly inSandbox: boolean };
  /** The reason why commands run without a sandbox although nothing switched it off. */
  readonly problem?: string;
}

/**
 * Finds out whether the commands of a launch run in a sandbox. They do wherever one can be made, unless it is switched off.
 * @throws EnvironmentError with the reason if none can be made and one was asked for, the run began in one, or only the policy is the obstacle
 */
export async function settleSandbox(launch: Launch, policy: Policy | undefined): Promise<SettledSandbox> {
  const { cwd, agent, inSandbox } = launch;
  if (inSandbox === true && agent.sandbox === false)
    throw new EnvironmentError({
      kind: "other",
      message: "This run began in a sandbox, and does not go on outside of one. Leave --no-sandbox away, or work in a copy: add --fork.",
    });
  if (agent.sandbox === false || inSandbox === false) return { launch: { ...launch, inSandbox: false } };
  const problem = await sandboxProblem(cwd, policy);
  if (problem === undefined) return { launch: { ...launch, inSandbox: true } };
  if (inSandbox === true)
    throw new EnvironmentError({
      kind: "provision-failed",
      message: `This run began in a sandbox, and does not go on outside of one. ${problem} To go on without one, work in a copy: add --fork --no-sandbox.`,
    });
  // A policy that can't be kept must not be passed over.
  if (agent.sandbox === true || (policy !== undefined && (await sandboxProblem(cwd, undefined)) === undefined))
    throw new EnvironmentError({ kind: "provision-failed", message: problem });
  return { launch: { ...launch, inSandbox: false }, problem };
}

/** The reason why no sandbox can be made for commands in a folder; `undefined` if one can. */
export async function sandboxProblem(cwd: string, policy: Policy | undefined): Promise<string | undefined> {
  try {
    await checkSandbox(cwd, policy);
    return undefined;
  } catch (error) {
    if (EnvironmentError.is(error, "provision-failed")) return error.message;
    throw error;
  }
}

/** A notice for a person whose commands run without a sandbox. */
export function noSandboxLine(problem: string): string {
  return `Commands run without a sandbox, because none can be made here. ${problem} --no-sandbox, or KEELSON_SANDBOX=0, hides this notice.`;
}

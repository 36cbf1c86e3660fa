import { EnvironmentError, type Environment, type EnvironmentSpec, type OpenEnvironment, type ToolEnvironment } from "@keelson/protocol";
import { describeThrown } from "../../../tools/describe-thrown.ts";
import { HELD_SERVICES } from "../../turn/held-services.ts";
import type { Loop } from "../../turn/loop.ts";
import type { Step } from "../../turn/moments.ts";
import { PartKey } from "../../turn/run-parts.ts";
import type { RunnerServices } from "../../turn/runner-services.ts";
import { startedIn } from "./started-in.ts";

/** Where the tools of a run work, for as long as this process works on it. */
interface RunEnvironment {
  readonly environment: Environment | undefined;
  readonly spec: EnvironmentSpec;
  opened?: OpenEnvironment;
}

const ENVIRONMENT = new PartKey<RunEnvironment>("environment");
const NOTHING: EnvironmentSpec = { isolation: [], credentials: [] };

/** Runs whose runner has an environment, or that are held to a sandbox, have one. */
export function bindEnvironment(
  { parts, authority }: Loop,
  { environment, environmentSpec: spec = NOTHING }: Pick<RunnerServices, "environment" | "environmentSpec">,
): void {
  const sandboxes = [...(spec.sandboxes ?? []), ...(authority.sandboxes ?? [])].filter(({ enabled }) => enabled);
  if (environment === undefined && spec === NOTHING && sandboxes.length === 0) return;
  parts.set(HELD_SERVICES, {});
  parts.set(ENVIRONMENT, { environment, spec: sandboxes.length === 0 ? spec : { ...spec, sandboxes } });
}

/** Before a run's first turn, and when it is taken up: where no environment holds what is asked for, no model is called. */
export const openEnvironmentStep: Step = {
  name: "the environment",
  applies: ({ parts }) => parts.get(ENVIRONMENT) !== undefined,
  run: async (loop) => open(loop, loop.parts.need(ENVIRONMENT)),
};

async function open({ execution, toolServices, agent, parts }: Loop, run: RunEnvironment): Promise<void> {
  if (run.opened !== undefined) return;
  if (run.environment?.open === undefined)
    throw new EnvironmentError({
      kind: "provision-failed",
      message: `Agent "${agent.name}" is to be held in a sandbox, and this runner has no environment that could do that. Give it one: createRunner({ environment: createSandboxEnvironment({ workspace }) }), from keelson/environment.`,
    });
  const { runId, session, signal } = execution;
  try {
    run.opened = await run.environment.open(run.spec, { runId, session, signal });
  } catch (error) {
    if (EnvironmentError.is(error)) throw error;
    throw new EnvironmentError(
      { kind: "other", message: `The environment could not be opened: ${describeThrown(error)}` },
      { cause: error },
    );
  }
  const { env, cwd } = agent.options;
  const { files, exec: given } = run.opened;
  const exec = given && (env || cwd !== undefined) ? startedIn(given, { cwd, env }) : given;
  const environment: ToolEnvironment = { ...(files && { files }), ...(exec && { exec }) };
  const { state, secrets } = toolServices;
  // Files and programs of the runner are outside of its boundaries.
  parts.need(HELD_SERVICES).services = { ...environment, environment, ...(state && { state }), ...(secrets && { secrets }) };
}

/** Before the end or the wait of a run is told, so that a failure of it still reaches whoever watches. */
export const closeEnvironmentStep: Step = {
  name: "the end of the environment",
  applies: ({ parts }) => parts.get(ENVIRONMENT)?.opened !== undefined,
  run: closeEnvironment,
};

/** When this process lets go of the run. */
export async function closeEnvironment({ parts, execution }: Loop): Promise<void> {
  const run = parts.get(ENVIRONMENT);
  if (run?.opened === undefined) return;
  const { opened } = run;
  delete run.opened;
  delete parts.need(HELD_SERVICES).services;
  try {
    await opened[Symbol.asyncDispose]();
  } catch (error) {
    const status = `The environment of the run could not be closed: ${describeThrown(error)}`;
    execution.emit({ type: "status", status, level: "warn" });
  }
}

import { AgentError, type RunId } from "@keelson/protocol";
import type { Agent } from "../definition/agent.ts";
import type { BeginOptions, RunInput, RunOptions, RunOrigin } from "../definition/run.ts";
import type { Outside } from "../../session/outside-reached.ts";
import type { ChildResumption } from "../turn/live-run.ts";
import type { Moments } from "../turn/moments.ts";
import type { RunnerServices } from "../turn/runner-services.ts";
import type { ActiveRun } from "./active-run.ts";

/** What orchestrators and children need beside what users do. */
export interface RunnerInternals {
  resume(session: string, options?: ChildResumption): Promise<ActiveRun<unknown>>;
  start(agent: Agent<unknown>, input: RunInput, options: RunOptions, origin: RunOrigin): ActiveRun<unknown>;
  /** Writes the start of a run, and works nothing of it. */
  begin(agent: Agent<unknown>, session: string, input: RunInput, options: BeginOptions, origin: RunOrigin): Promise<RunId>;
  find(name: string): Agent<unknown> | undefined;
  /** Of all its agents. */
  names(): readonly string[];
  readonly services: RunnerServices;
  /** What its runs do when. Default: `MOMENTS`. */
  readonly moments: Moments | undefined;
  /** Of a rehearsal: what its runs unwind with in place of an act that is not of the log. */
  readonly outside?: Outside | undefined;
}

/** Of each runner of this package. A runner shows its users nothing of them. */
const internals = new WeakMap<object, RunnerInternals>();

export function keepInternals(runner: object, kept: RunnerInternals): void {
  internals.set(runner, kept);
}

/** @throws AgentError when this is no runner of this package */
export function runnerInternals(runner: object): RunnerInternals {
  const found = internals.get(runner);
  if (found === undefined)
    throw new AgentError({ kind: "invalid-option", option: "runner", message: "This is no runner: make one with createRunner." });
  return found;
}

import type { CallPlace, Executor, PlannedPrograms, ToolCall } from "@keelson/protocol";
import { toolFailure } from "./workspace-files.ts";

/** The programs that a call runs: those of the environment that its run is held in, where there is one, else the tool's own. */
export function programsOf({ environment }: Pick<ToolCall, "environment">, own: Executor): Executor {
  if (environment === undefined) return own;
  if (environment.exec === undefined) throw toolFailure("bash", "The environment of this run has no programs.");
  return environment.exec;
}

/** The same before the call. */
export function plannedPrograms({ environment }: CallPlace, own: Executor): PlannedPrograms {
  return environment === undefined ? own : (environment.exec ?? {});
}

import type { CallEffects, CallPlace, Executor, PlannedPrograms, ToolCall } from "@keelson/protocol";
import { toolFailure } from "./call-files.ts";

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

/**
 * The effects of an edit, which need no question if a command in the sandbox might make it, too. Elsewhere, and for files that a sandbox keeps
 * from commands, they stay what they are.
 */
export async function editEffects(effects: CallEffects, where: CallPlace, own: Executor | undefined): Promise<CallEffects> {
  const programs = own === undefined ? (where.environment?.exec ?? {}) : plannedPrograms(where, own);
  const isInside = effects.writes?.every((path) => !path.startsWith("/") && path.split("/")[0] !== "..") === true;
  if (!isInside || programs.confine === undefined) return effects;
  const confined = await programs.confine(effects);
  return confined.confined?.refused.length === 0 ? confined : effects;
}

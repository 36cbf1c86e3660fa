import type { CallPlace, JsonObject } from "@keelson/protocol";
import { runOf, type Loop, type ToolServices } from "./loop.ts";
import { PartKey } from "./run-parts.ts";
import { toolContextOf } from "./tool-context.ts";

/** What the tools of a run in an environment are given in the place of what its runner has: nothing until that is open. */
export interface HeldServices {
  services?: ToolServices;
}

export const HELD_SERVICES: PartKey<HeldServices> = new PartKey<HeldServices>("held services");

/** What the tools of a run are given: of its environment, where it has one. */
export function toolServicesOf({ parts, toolServices }: Pick<Loop, "parts" | "toolServices">): ToolServices {
  const held = parts.get(HELD_SERVICES);
  if (held === undefined) return toolServices;
  if (held.services === undefined) throw new TypeError("a tool was called before the environment of its run was open");
  return held.services;
}

const NOTHING_KEPT: JsonObject = {};

/** Where calls of a run would work. Of an environment that is not open nothing is known, so nothing is said to be confined. */
export function callPlaceOf(loop: Loop): CallPlace {
  const { parts, toolServices, agent } = loop;
  const { cwd } = agent.options;
  const held = parts.get(HELD_SERVICES);
  const { exec, environment } = held === undefined ? toolServices : (held.services ?? {});
  const context = toolContextOf(loop);
  return {
    ...(cwd !== undefined && { cwd }),
    kept: runOf(loop).callsKept ?? NOTHING_KEPT,
    ...(exec && { exec }),
    ...(environment && { environment }),
    ...(context !== undefined && { context }),
  };
}

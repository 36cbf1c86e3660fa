import { type AgentEvent, type EffortLevel, PERMISSION_MODES, type PermissionMode } from "@keelson/protocol";
import { EFFORT_LEVELS } from "../core/effort-levels.ts";
import type { RunTerms } from "../core/run-terms.ts";

/** The options of a run that replace the mode and the effort of its agent. */
export interface RunSettingsOptions {
  readonly permissionMode?: PermissionMode;
  readonly effort?: EffortLevel;
}

/** Returns the options for terms that differ from those that the agent itself was made with. */
export function settingsOptions(made: RunTerms, { mode, effort }: RunTerms): RunSettingsOptions {
  return {
    ...(mode !== made.mode && { permissionMode: mode }),
    ...(effort !== undefined && effort !== made.effort && { effort }),
  };
}

/** Returns the terms that an event of the run itself says are others from here on. Empty: it says nothing of them. */
export function switchedTerms(event: AgentEvent): Partial<RunTerms> {
  const { type, to, path = [] }: { readonly type: string; readonly to?: unknown; readonly path?: readonly unknown[] } = event;
  if (path.length > 0) return {};
  if (type === "model-switch" && typeof to === "string") return { model: to };
  if (type === "permission-mode-switch") {
    const mode = PERMISSION_MODES.find((one) => one === to);
    return mode === undefined ? {} : { mode };
  }
  if (type !== "effort-switch") return {};
  return to === null ? { effort: undefined } : { effort: EFFORT_LEVELS.find((level) => level === to) };
}

import { type AgentEvent, type EffortLevel, PERMISSION_MODES, type PermissionMode } from "@keelson/protocol";
import type { Run } from "keelson";
import { EFFORT_LEVELS } from "../core/effort-levels.ts";
import type { RunTerms } from "../core/run-terms.ts";

/** The settings of a run that change while it is at work, beside its model. */
export interface RunSettings {
  /** Holds for the calls that are judged after the run has read it, until the run ends. */
  setPermissionMode(mode: PermissionMode): Promise<void>;
  /** Holds from the next turn on. @param level `null`: that of the agent */
  setEffort(level: EffortLevel | null): Promise<void>;
}

/** The options of a run that replace the mode and the effort of its agent. */
export interface RunSettingsOptions {
  readonly permissionMode?: PermissionMode;
  readonly effort?: EffortLevel;
}

/** @throws Error if the runtime of this run cannot change it while it is at work */
export function settingsOf(run: Run<unknown>): RunSettings {
  if (!isSettable(run)) throw new Error("This run cannot be changed while it is at work. The change holds from your next message on.");
  return run;
}

function isSettable(run: Run<unknown>): run is Run<unknown> & RunSettings {
  return "setPermissionMode" in run && "setEffort" in run;
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

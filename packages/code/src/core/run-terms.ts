import type { EffortLevel, PermissionMode } from "@keelson/protocol";
import type { Launch } from "./launch.ts";

/** The choices that a person changes in the middle of a conversation. Each run is started with them. */
export interface RunTerms {
  readonly model: string;
  readonly mode: PermissionMode;
  /** Absent: the effort is that of the model. */
  readonly effort: EffortLevel | undefined;
}

/**
 * Returns the launch that a run with these terms is recorded with, so that a resume has the same.
 * @param from the terms of the launch itself: a mode that comes from a policy or from settings is recorded only once it was changed
 */
export function launchWith(launch: Launch, from: RunTerms, { model, mode, effort }: RunTerms): Launch {
  const { effort: _, ...agent } = launch.agent;
  return {
    ...launch,
    agent: { ...agent, model, ...(mode !== from.mode && { permissionMode: mode }), ...(effort !== undefined && { effort }) },
  };
}

import type { EffortLevel } from "@keelson/protocol";
import type { InferenceSettings } from "../../context/compile-request.ts";
import type { Agent } from "../definition/agent.ts";

/** Returns the settings of the requests of a run: those of its agent, with the effort that the run has instead of the agent's. */
export function requestSettings(agent: Agent<unknown>, effortOfRun: EffortLevel | undefined): InferenceSettings {
  const { settings, effort: own, thinking } = agent.options;
  const effort = effortOfRun ?? own;
  return { ...settings, ...(effort !== undefined && { effort }), ...(thinking !== undefined && { thinking }) };
}

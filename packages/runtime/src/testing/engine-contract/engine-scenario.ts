import type { Decision, JsonValue, RunReason, Signal } from "@keelson/protocol";
import type { Agent } from "../../agent/index.ts";
import type { ScenarioKit } from "./scenario-kit.ts";

/** What happens from outside, once nothing works on a session any more and it waits. */
export type ScenarioAct =
  /** Decides the open question about a call of this tool, of the session's run or of any child below it. */
  | { readonly type: "decide"; readonly tool: string; readonly decision: Decision }
  /** The same too late: it must be refused, and the run waits on. */
  | { readonly type: "decide-too-late"; readonly tool: string; readonly decision: Decision }
  /** `to` names the agent of a child; default: the session's own run. */
  | { readonly type: "signal"; readonly signal: Signal; readonly to?: string }
  | { readonly type: "steer"; readonly message: string; readonly interrupt?: boolean }
  | { readonly type: "stop" }
  | { readonly type: "abort"; readonly reason?: string }
  /** Time goes by, for all processes. */
  | { readonly type: "pass"; readonly ms: number }
  /** All but the first turns of the conversation are taken back. */
  | { readonly type: "rewind"; readonly turns: number }
  /** Another run in the same session, once the one before is over. */
  | { readonly type: "run"; readonly input: string };

/** What an agent does, what happens meanwhile, and what it must come to, on every engine alike. */
export interface EngineScenario {
  /** Unique; the session is named so. */
  readonly name: string;
  /** What of an engine it is about. */
  readonly about: string;
  /** The one that runs. */
  readonly agent: string;
  /** All that a runner must know; those that one has as tools come with it. Names are unique among all scenarios. */
  agents(kit: ScenarioKit): readonly Agent<unknown>[];
  readonly input: string;
  readonly acts?: readonly ScenarioAct[];
  /** How the last run of the session ends, or why it waits. */
  readonly ends: { readonly reason: RunReason; readonly text?: string; readonly output?: JsonValue };
  /** How often each tool that writes has run in the end. A tool that is not named here has not. */
  readonly writes?: { readonly [tool: string]: number };
}

import type { JsonValue } from "@keelson/protocol";
import { createAgent, type AgentOptions } from "../../../agent/index.ts";
import type { EngineScenario } from "../engine-scenario.ts";
import type { ScenarioKit } from "../scenario-kit.ts";
import type { ScriptedResponse } from "../../scripted-model.ts";

interface OneAgent extends Omit<EngineScenario, "agent" | "agents" | "input"> {
  readonly input?: string;
  options(kit: ScenarioKit): Omit<AgentOptions, "name">;
}

/** A scenario of one agent, which is called as the scenario is. */
export function oneAgent({ options, input = "Go on.", ...scenario }: OneAgent): EngineScenario {
  const { name } = scenario;
  return { ...scenario, input, agent: name, agents: (kit) => [createAgent({ ...options(kit), name })] };
}

interface Team extends Omit<EngineScenario, "agent" | "input"> {
  readonly input?: string;
}

/** A scenario in which the agent that is called as the scenario is works with others, all of them named after it. */
export function team({ input = "Go on.", ...scenario }: Team): EngineScenario {
  return { ...scenario, input, agent: scenario.name };
}

/** A response that calls a tool. */
export function call(name: string, input: JsonValue = {}): ScriptedResponse {
  return { toolCalls: [{ name, input }] };
}

/** A response that calls several tools, in this order. */
export function calls(...names: readonly string[]): ScriptedResponse {
  return { toolCalls: names.map((name, n) => ({ name, input: { n } })) };
}

/** A response that gives a task to an agent. */
export function task(...agents: readonly string[]): ScriptedResponse {
  return { toolCalls: agents.map((name) => ({ name, input: { task: `Your part, ${name}.` } })) };
}

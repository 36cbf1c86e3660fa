import { checkPrice } from "../../providers/check-price.ts";
import { AgentError } from "@keelson/protocol";
import { isAgentTool } from "../definition/children/agent-tool.ts";
import { isHandoffTool } from "../definition/children/handoff.ts";
import type { Agent } from "../definition/agent.ts";
import { createModelSource, modelName, type Model } from "../definition/model-source.ts";
import { modelProblem } from "../features/output/output-request.ts";
import type { RunnerServices } from "../turn/runner-services.ts";
import type { Agents } from "../definition/agent.ts";

/** The agents of a runner, and those that they have as tools. */
export function collectAgents(given: {
  readonly agent?: Agent<unknown>;
  readonly agents?: Agents<never>;
}): ReadonlyMap<string, Agent<unknown>> {
  const found = new Map<string, Agent<unknown>>();
  const add = (name: string, agent: Agent<unknown>): void => {
    if (found.get(name) === agent) return;
    if (found.has(name))
      throw new AgentError({ kind: "invalid-option", option: "agents", message: `Two different agents are named "${name}". Rename one.` });
    found.set(name, agent);
    for (const tool of agent.tools) {
      if (isAgentTool(tool)) add(tool.dispatch.operator, tool.agent);
      else if (isHandoffTool(tool) && tool.agent) add(tool.handoff.operator, tool.agent);
    }
  };
  if ((given.agent === undefined) === (given.agents === undefined))
    throw new AgentError({ kind: "invalid-option", option: "agent", message: "Give the runner either `agent` or `agents`." });
  if (given.agent) add(given.agent.name, given.agent);
  for (const agent of Object.values(given.agents ?? {})) add(agent.name, agent as Agent<unknown>);
  return found;
}

/** @throws AgentError of kind `invalid-option` that names the agents there are */
export function chooseAgent(
  given: { readonly agent?: Agent<unknown>; readonly agents?: Agents<never> },
  name: string | undefined,
): Agent<unknown> {
  if (given.agent) {
    if (name === undefined || name === given.agent.name) return given.agent;
    const message = `There is no agent ${JSON.stringify(name)}: this runner has the agent "${given.agent.name}" alone.`;
    throw new AgentError({ kind: "invalid-option", option: "agent", message });
  }
  const agents = given.agents ?? {};
  const agent = name === undefined ? undefined : Object.hasOwn(agents, name) ? agents[name] : undefined;
  if (agent === undefined)
    throw new AgentError({
      kind: "invalid-option",
      option: "agent",
      message: `There is no agent ${JSON.stringify(name)}; there are ${Object.keys(agents).join(", ")}.`,
    });
  return agent as Agent<unknown>;
}

/** @throws AgentError of kind `invalid-option` for what can't be found, or has no price under a money limit */
export function checkModels(agent: Agent<unknown>, services: RunnerServices): void {
  const { model, fallbackModel, debugFile } = agent.options;
  if (debugFile !== undefined && services.openDebugFile === undefined) {
    throw new AgentError({
      kind: "invalid-option",
      option: "debugFile",
      message: `Agent "${agent.name}" wants its debug output in ${debugFile}, but this runner can't open files: give it \`openDebugFile\`.`,
    });
  }
  const source = createModelSource(fallbackModel === undefined ? [model] : [model, fallbackModel], services.models);
  const resolve = (choice: typeof model, option: string): Model => {
    try {
      return source.resolve(modelName(choice));
    } catch (error) {
      throw new AgentError(
        {
          kind: "invalid-option",
          option,
          message: `The ${option} of agent "${agent.name}" can't be found: ${error instanceof Error ? error.message : String(error)}`,
        },
        { cause: error },
      );
    }
  };
  const found = [resolve(model, "model"), ...(fallbackModel === undefined ? [] : [resolve(fallbackModel, "fallbackModel")])];
  const { outputForm } = agent;
  for (const asked of found) {
    const problem = outputForm && modelProblem(outputForm, asked);
    if (problem !== undefined)
      throw new AgentError({ kind: "invalid-option", option: "outputMode", message: `Agent "${agent.name}": ${problem}.` });
  }
  for (const { price, reference } of found) {
    if (price === null) checkUnpriced(agent, reference, services.budgets);
    else checkPrice(`The price of ${reference}`, price);
  }
}

/** @throws AgentError of kind `invalid-option` where money is limited, and nobody said what becomes of unknown prices */
function checkUnpriced(agent: Agent<unknown>, reference: string, budgets: RunnerServices["budgets"] = []): void {
  const advice = (choice: string): string =>
    `can't hold. Add the price to the registry's \`prices\`, drop the limit, or set ${choice} to "allow": what has no price then counts nothing.`;
  const { maxCost, unknownPrice } = agent.options.limits ?? {};
  if (maxCost !== undefined && unknownPrice !== "allow")
    throw new AgentError({
      kind: "invalid-option",
      option: "limits.maxCost",
      message: `Agent "${agent.name}" has a money limit, but the price of ${reference} is unknown, so the limit ${advice("limits.unknownPrice")}`,
    });
  const strict = budgets.find((budget) => budget.maxCost !== undefined && budget.unknownPrice !== "allow");
  if (strict !== undefined)
    throw new AgentError({
      kind: "invalid-option",
      option: "budgets",
      message: `The price of ${reference}, the model of agent "${agent.name}", is unknown, so the budget "${strict.id}" ${advice("its `unknownPrice`")}`,
    });
}

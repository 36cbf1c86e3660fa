import { hasSources } from "../tool-sources/has-sources.ts";
import { AgentError } from "@keelson/protocol";
import { nearestName } from "../../../json/nearest-name.ts";
import type { AgentOptions } from "../agent.ts";
import { TRANSITION_TOOL } from "./transition-tool.ts";

/** @throws AgentError of kind `invalid-option` for a strategy that is none, or whose actions and tools the agent does not have */
export function checkStrategyOption({ strategy, tools = [], toolSources, mcpServers, excludedTools = [] }: AgentOptions<unknown>): void {
  if (strategy === undefined) return;
  if (typeof strategy?.execute !== "function" || typeof strategy.signalRoutes !== "function")
    throw invalid("strategy must be made with fsmStrategy()….build() or directStrategy()");
  const { machine } = strategy;
  if (machine === undefined) return;
  const names = new Set(tools.map(({ name }) => name).filter((name) => !excludedTools.includes(name)));
  const almost = (name: string): string => {
    const near = nearestName(name, [...names]);
    return near === undefined ? "" : ` Did you mean "${near}"?`;
  };
  for (const action of machine.actions) {
    if (names.has(action) !== machine.offered.has(action)) continue;
    throw invalid(
      names.has(action)
        ? `strategy offers the action "${action}" although it is a tool: a call of the tool is the action`
        : `strategy has the action "${action}", which is none of the agent's tools.${almost(action)} Let the model take it as it is with offer("${action}")`,
    );
  }
  for (const tool of machine.tools)
    // Sources may offer it later.
    if (!names.has(tool) && !hasSources({ toolSources, mcpServers }))
      throw invalid(`strategy names the tool "${tool}", which is none of the agent's.${almost(tool)}`);
  if (machine.offered.size > 0 && names.has(TRANSITION_TOOL))
    throw invalid(`strategy offers actions with a tool "${TRANSITION_TOOL}", and the agent has one of that name: rename it with aliasTool`);
}

function invalid(message: string): AgentError {
  return new AgentError({ kind: "invalid-option", option: "strategy", message: `${message}.` });
}

import type { Agent } from "../../definition/agent.ts";
import { SEARCH_TOOL } from "../../definition/tool-sources/search-tool.ts";
import type { OfferedTool } from "../../../session/offered-tool.ts";

type Named = Pick<OfferedTool, "name" | "aliases">;

/** Names that models may call something by already. */
export interface TakenNames {
  /** Takes the names of a tool. @returns why it can't have them, where that is so: then nothing is taken */
  take(tool: Named): string | undefined;
}

/** Those of an agent's own tools, and of those that it is not to have. */
export function takenNames(agent: Agent<unknown>): TakenNames {
  const owners = new Map<string, string>();
  for (const { name, aliases } of agent.tools) for (const taken of [name, ...aliases]) owners.set(taken, `the agent's own tool "${name}"`);
  const output = agent.outputForm?.tool?.name;
  if (output !== undefined) owners.set(output, "the tool that takes the output");
  if (agent.options.deferTools !== false) owners.set(SEARCH_TOOL, "the tool that finds others");
  for (const name of agent.options.excludedTools ?? []) owners.set(name, "excludedTools");
  return {
    take({ name, aliases }) {
      for (const wanted of [name, ...aliases]) {
        const owner = owners.get(wanted);
        if (owner !== undefined) return `"${wanted}" is taken by ${owner}`;
      }
      for (const taken of [name, ...aliases]) owners.set(taken, `the tool "${name}" of a source`);
      return undefined;
    },
  };
}

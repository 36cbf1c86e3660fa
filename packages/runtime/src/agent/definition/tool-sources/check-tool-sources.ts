import type { ToolSource } from "@keelson/protocol";
import type { ToolSet } from "../../../tools/tool-registry.ts";
import type { AgentOptions } from "../agent.ts";
import { hasSources } from "./has-sources.ts";
import { SEARCH_TOOL } from "./search-tool.ts";
import { invalidOption, shown } from "../invalid-option.ts";

/** @throws AgentError of kind `invalid-option` for what is no source of tools, or has the name of another */
export function checkToolSources(sources: readonly ToolSource[] | undefined): void {
  if (sources === undefined) return;
  if (!Array.isArray(sources)) throw invalidOption("toolSources", `must be a list of sources of tools, not ${shown(sources)}`);
  const names = new Set<string>();
  for (const [index, source] of sources.entries()) {
    const option = `toolSources[${index}]`;
    if (typeof source?.open !== "function" || typeof source.name !== "string" || source.name === "")
      throw invalidOption(option, `must be a source of tools, an object with a name and open, not ${shown(source)}`);
    if (names.has(source.name)) throw invalidOption(option, `is the second of two sources that are named "${source.name}": rename one`);
    names.add(source.name);
  }
}

/** @throws AgentError of kind `invalid-option` where the agent has a tool of the name of the one that finds tools of its sources */
export function checkSearchTool(options: Pick<AgentOptions<never>, "toolSources" | "mcpServers" | "deferTools">, tools: ToolSet): void {
  if (!hasSources(options) || options.deferTools === false || tools.get(SEARCH_TOOL) === undefined) return;
  throw invalidOption(
    "tools",
    `has a tool "${SEARCH_TOOL}", which is what finds those of toolSources where there are many: rename yours with aliasTool, or set deferTools to false`,
  );
}

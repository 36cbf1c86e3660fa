import type { ToolCallPart } from "@keelson/protocol";
import type { Agent } from "../definition/agent.ts";
import { seePath } from "../definition/permissions/path-pattern.ts";

/** Tells which files a call of an agent's tool showed: what it reads, by its own account, where it does nothing else. */
export function shownFiles({ tools, options: { cwd } }: Agent<unknown>): (call: ToolCallPart) => Promise<readonly string[]> {
  return async ({ name, input }) => {
    const tool = tools.get(name);
    if (tool?.effectsOf === undefined || tool.effect !== "read" || input === undefined) return [];
    try {
      const { reads = [] } = await tool.effectsOf(input, cwd === undefined ? {} : { cwd });
      return reads.map((path) => seePath(path, cwd).shown);
    } catch {
      return [];
    }
  };
}

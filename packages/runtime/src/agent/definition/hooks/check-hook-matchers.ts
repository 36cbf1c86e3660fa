import type { Tool } from "@keelson/protocol";
import { nearestName } from "../../../json/nearest-name.ts";
import { aliasesOf } from "../../../tools/find-alias.ts";
import { invalidOption } from "../invalid-option.ts";
import { sealHooks, type HookRegistry, type RegisteredHook } from "./hook-registry.ts";

const POINTS = ["pre-tool-use", "post-tool-use", "post-tool-use-failure"] as const;

/** Returns the hooks that are about tools and match none of these. */
export function hooksWithoutTool(registry: HookRegistry, tools: Iterable<Pick<Tool, "name">>): readonly RegisteredHook[] {
  const names = [...tools].map(({ name }) => name);
  const hooks = sealHooks(registry) ?? {};
  const about = POINTS.flatMap((point) => (hooks[point] ?? []) as unknown as readonly RegisteredHook[]);
  return about.filter((hook) => hook.pattern !== undefined && !names.some((name) => hook.matches(name)));
}

/**
 * Refuses a hook whose matcher names tools and can match none. A pattern, a name of an MCP server and any name beside sources of tools may match a tool
 * that is offered later: the run reports those.
 * @param tools of the agent, the excluded ones and those of its children included
 * @throws AgentError of kind `invalid-option` that suggests the right name
 */
export function checkHookMatchers(registry: HookRegistry, tools: readonly Pick<Tool, "name">[], comesLater: boolean): void {
  // A definition without tools gets them by `with`, or has nothing to guard.
  if (comesLater || tools.length === 0) return;
  const known = [...new Set(tools.map(({ name }) => name))];
  for (const { point, name, tools: written } of hooksWithoutTool(registry, tools)) {
    if (written === undefined || written.some((one) => /^mcp(?:__|:)/.test(one))) continue;
    const meant = written.flatMap((one) => aliasesOf(one).find(({ tool }) => known.includes(tool))?.tool ?? nearestName(one, known) ?? []);
    const advice = meant.length > 0 ? `Did you mean ${JSON.stringify(meant.join("|"))}` : `There are ${known.join(", ") || "no tools"}`;
    throw invalidOption(
      `hooks["${point}"].matcher`,
      `of the hook "${name}" is ${JSON.stringify(written.join("|"))}, which can match no tool of the agent. ${advice}`,
    );
  }
}

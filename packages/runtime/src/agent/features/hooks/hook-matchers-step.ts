import { hooksWithoutTool } from "../../definition/hooks/check-hook-matchers.ts";
import type { Step } from "../../turn/moments.ts";
import { warnOfHook } from "./call-hook.ts";
import { hooksOf } from "./loop-hooks.ts";

/** Warns once in a process of hooks that match none of the tools of the first turn: a guard of such a kind would guard nothing. */
export const hookMatchersStep: Step = {
  name: "matchers of hooks",
  applies: (loop) => hooksOf(loop)?.isChecked === false && loop.execution.outside === undefined,
  async run(loop) {
    const hooks = hooksOf(loop);
    const registry = loop.agent.options.hooks;
    if (hooks === undefined || registry === undefined) return;
    hooks.isChecked = true;
    for (const { point, name, pattern } of hooksWithoutTool(registry, loop.tools))
      warnOfHook(
        loop,
        point,
        `hook "${name}" at ${point}: its matcher ${JSON.stringify(pattern)} matches no tool that is there now. If it is about a tool of a server, that may still come; else correct it.`,
      );
  },
};

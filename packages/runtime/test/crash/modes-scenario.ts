import type { EffortLevel, JsonObject, PermissionMode, Tool } from "@keelson/protocol";
import type { Run, SingleRunner } from "../../src/index.ts";
import { createAgent, defineTool } from "../../src/index.ts";
import { openRunner, scriptByTurn, tool, type ScenarioServices } from "./scenario.ts";

/** The change of a turn, and the call that is judged by it in the next one. */
const TURNS: readonly {
  readonly mode: PermissionMode;
  readonly effort: EffortLevel | null;
  readonly then: { readonly name: string; readonly input: JsonObject };
}[] = [
  { mode: "bypass-all", effort: "high", then: { name: "pay", input: { amount: 5 } } },
  { mode: "plan-only", effort: null, then: { name: "send", input: { to: "ann" } } },
  { mode: "accept-edits", effort: "low", then: { name: "post", input: { to: "bob" } } },
];

/** The effort of each request that a life made, by the number of responses before it. */
export type SeenEfforts = Map<number, Set<EffortLevel | undefined>>;

/**
 * A run whose mode and effort are changed by turns, each time followed by a call of a dangerous tool. `post` is an edit of a file. At last the mode is
 * changed while the response with such a call streams.
 */
export function openModes(services: ScenarioServices, seen: SeenEfforts): SingleRunner {
  const { points } = services;
  let run: Run | Promise<Run> | undefined;
  const change = defineTool({
    name: "change",
    description: "Changes the mode and the effort.",
    effect: "read",
    input: { type: "object" },
    async execute(input) {
      const { turn } = input as { readonly turn: number };
      const { mode, effort } = TURNS[turn] as (typeof TURNS)[number];
      await points.pass("change/before");
      const open = (await run) as Run;
      await open.setPermissionMode(mode);
      await points.pass("change/between");
      await open.setEffort(effort);
      await points.pass("change/after");
      return "changed";
    },
  });
  const risky = (name: string, category?: Tool["category"]): Tool => ({
    ...tool(services, name, "write"),
    risk: category === "edit" ? "medium" : "high",
    ...(category && { category }),
  });
  const runner = openRunner(services, () =>
    createAgent({
      name: "modes",
      model: scriptByTurn(points, "scripted/modes", async (turn, { effort }) => {
        seen.set(turn, (seen.get(turn) ?? new Set()).add(effort));
        const step = TURNS[Math.floor(turn / 2)];
        if (turn === 2 * TURNS.length) {
          await ((await run) as Run).setPermissionMode("plan-only");
          await points.pass("changed-while-streaming");
          return { toolCalls: [{ name: "file_report", input: { about: "it" } }] };
        }
        if (step === undefined) return { text: "Done." };
        return { toolCalls: [turn % 2 === 0 ? { name: "change", input: { turn: turn / 2 } } : step.then] };
      }),
      effort: "medium",
      tools: [change as Tool, risky("pay"), risky("send"), risky("post", "edit"), risky("file_report")],
    }),
  );
  return {
    ...runner,
    run: (...given: Parameters<SingleRunner["run"]>) => (run = runner.run(...given)),
    resume: (...given: Parameters<SingleRunner["resume"]>) => (run = runner.resume(...given)) as ReturnType<SingleRunner["resume"]>,
  };
}

import { createAgent, defineTool } from "../../src/index.ts";
import type { SingleRunner } from "../../src/agent/runner/runner.ts";
import { openRunner, scriptByTurn, type ScenarioServices } from "./scenario.ts";

/** Sessions that are worked on at the same time. */
export const PLAIN_SESSIONS: readonly string[] = ["one", "two", "three", "four"];

/** Two tools in two turns, in any number of sessions at once. The tools say in whose session they ran. */
export function openPlain(services: ScenarioServices): SingleRunner {
  const { points, effects } = services;
  const tool = (name: string, effect: "idempotent" | "write") =>
    defineTool({
      name,
      description: `Does ${name}.`,
      effect,
      input: { type: "object" },
      async execute(_input, { session, idempotencyKey, attempt }) {
        await points.pass(`${name}/before`);
        effects.write({ tool: `${session}/${name}`, key: idempotencyKey, attempt });
        await points.pass(`${name}/after`);
        return `${name} in ${session}`;
      },
      reconcile: (_input, { session, idempotencyKey }) =>
        effects.read().some(({ key }) => key === idempotencyKey) ? { output: `${name} in ${session}` } : "not-done",
    });
  return openRunner(services, () =>
    createAgent({
      name: "plain",
      model: scriptByTurn(points, "scripted/plain", (turn) =>
        turn === 0
          ? { toolCalls: [{ name: "mark", input: {} }] }
          : turn === 1
            ? { toolCalls: [{ name: "post", input: {} }] }
            : { text: "Done." },
      ),
      tools: [tool("mark", "idempotent"), tool("post", "write")],
    }),
  );
}

import { ModelError, type Tool } from "@keelson/protocol";
import { createAgent, defineTool } from "../../src/index.ts";
import type { SingleRunner } from "../../src/agent/runner/runner.ts";
import { hasFailed, openRunner, scriptByTurn, type ScenarioServices } from "./scenario.ts";

/**
 * A run in which user code decides: rules, `onModelError` and an approvals callback. Each asks the clock, counts its calls
 * where a crash can't reach them, and decides differently from one call to the next.
 */
export function openDeciding(services: ScenarioServices): SingleRunner {
  const { points, effects } = services;

  /** @returns how often this callback was called before, over all lives */
  const take = (callback: string): number => {
    const count = effects.read().filter(({ tool }) => tool === callback).length;
    effects.write({ tool: callback, key: String((services.now ?? Date.now)()), attempt: count });
    return count;
  };
  const taken = async (callback: string): Promise<number> => {
    await points.pass(`${callback}/before`);
    const count = take(callback);
    await points.pass(`${callback}/after`);
    return count;
  };

  return openRunner(
    services,
    (log) => {
      const responses = (name: string) =>
        scriptByTurn(points, name, async (turn) => {
          if (turn === 0)
            return {
              toolCalls: [
                { name: "note", input: {} },
                { name: "note", input: { more: true } },
              ],
            };
          if (turn > 1) return { text: "Done." };
          if (!(await hasFailed(log))) throw new ModelError({ kind: "server-error", message: "overloaded" });
          return { toolCalls: [{ name: "pay", input: { amount: 5 } }] };
        });
      return createAgent({
        name: "deciding",
        model: responses("scripted/first"),
        fallbackModel: responses("scripted/second"),
        instructions: async () => `Instruction ${await taken("instructions")}.`,
        permissions: { rules: [{ pattern: "pay", behavior: "ask" }] },
        tools: [echo("note", "read"), echo("pay", "idempotent")],
        rules: [
          {
            name: "stamp",
            trigger: { type: "before", operation: "execute-tool" },
            async run({ input }) {
              const call = input as { readonly name: string; readonly input: { readonly [name: string]: string } };
              return { type: "modify-input", input: { name: call.name, input: { ...call.input, stamp: await taken("stamp") } } };
            },
          },
          {
            name: "remind",
            trigger: { type: "when", predicate: () => take("remind-when") % 5 === 0 },
            run: async ({ context }) =>
              context.injectMessage({ role: "system", content: [{ type: "text", text: `Reminder ${await taken("remind")}.` }] }),
          },
        ],
        onModelError: async () =>
          (await taken("on-model-error")) % 2 === 0 ? { type: "switch-model", model: "scripted/second" } : { type: "retry" },
      });
    },
    async () => ({ type: "allow-modified", input: { amount: await taken("approval") } }),
  );
}

function echo(name: string, effect: "read" | "idempotent"): Tool {
  return defineTool({
    name,
    description: `Does ${name}.`,
    effect,
    input: { type: "object" },
    execute: (input) => JSON.stringify(input),
  }) as Tool;
}

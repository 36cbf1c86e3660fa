import type { SingleRunner } from "../../src/agent/runner/runner.ts";
import { summarise } from "../../src/context/index.ts";
import { createAgent, defineTool, type Tool } from "../../src/index.ts";
import { openRunner, scriptByTurn, type ScenarioServices } from "./scenario.ts";

const WORDS = "many words of little weight ".repeat(150);

/** A run whose model is asked several times for a summary of what it has seen. @param asked told of each time that it is */
export function openCompacting(services: ScenarioServices, beside: boolean, asked: () => void): SingleRunner {
  const { points, effects } = services;
  return openRunner(services, () =>
    createAgent({
      name: "compacting",
      model: scriptByTurn(points, "scripted/compacting", (_turn, { messages, system = "" }) => {
        if (system.startsWith("Summarise")) {
          asked();
          return { text: "They looked." };
        }
        const looked = messages.flatMap(({ content }) => content).findLast((part) => part.type === "tool-call")?.input as
          | { readonly number: number }
          | undefined;
        const number = (looked?.number ?? 0) + 1;
        return number > 6 ? { text: "Done." } : { text: `Look ${number}. ${WORDS}`, toolCalls: [{ name: "look", input: { number } }] };
      }),
      tools: [
        defineTool({
          name: "look",
          description: "Looks.",
          effect: "read",
          input: { type: "object" },
          execute: () => "seen",
        }) as Tool,
      ],
      limits: { maxTokens: 1_000_000 },
      compaction: { strategy: summarise({ keep: 2 }), when: { maxMessages: 7 }, beside },
      afterTurn: () => void effects.write({ tool: "turn", key: "", attempt: 0 }),
    }),
  );
}

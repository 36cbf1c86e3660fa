import type { StateStore } from "@keelson/protocol";
import type { SingleRunner } from "../../src/agent/runner/runner.ts";
import { summarise } from "../../src/context/index.ts";
import { type Agent, createAgent, defineTool, type Tool } from "../../src/index.ts";
import { userFacts } from "../../src/memory/index.ts";
import { openRunner, scriptByTurn, type ScenarioServices } from "./scenario.ts";

const WORDS = "many words of little weight ".repeat(150);

/** What is remembered in the first turn, where there is a store. */
const REMEMBERED = [
  { name: "remember_fact", input: { text: "Ada likes tea." } },
  { name: "correct_fact", input: { id: "0", text: "Ada lives in Rome." } },
  { name: "correct_fact", input: { id: "0", text: "Ada lives in Bern." } },
];

/**
 * A run whose model is asked several times for a summary of what it has seen.
 * @param asked told of each time that it is
 * @param state where the run remembers something before it is compacted; without it it remembers nothing
 */
export function openCompacting(services: ScenarioServices, beside: boolean, asked: () => void, state?: StateStore): SingleRunner {
  const { points, effects } = services;
  const write: StateStore["write"] = async (...request) => {
    await points.pass("write");
    const version = await (state as StateStore).write(...request);
    await points.pass("written");
    return version;
  };
  const store = state && { ...state, write };
  const agentOf = (): Agent<undefined> =>
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
        const look = { name: "look", input: { number } };
        return number > 6
          ? { text: "Done." }
          : { text: `Look ${number}. ${WORDS}`, toolCalls: number === 1 && store ? [...REMEMBERED, look] : [look] };
      }),
      tools: [
        defineTool({
          name: "look",
          description: "Looks.",
          effect: "read",
          input: { type: "object" },
          execute: () => "seen",
        }) as Tool,
        ...(store ? userFacts({ store, user: "ada" }).tools : []),
      ],
      limits: { maxTokens: 1_000_000 },
      compaction: { strategy: summarise({ keep: 2 }), when: { maxMessages: 7 }, beside },
      afterTurn: () => void effects.write({ tool: "turn", key: "", attempt: 0 }),
    });
  return openRunner(services, agentOf, undefined, store && { state: store });
}

import { textMessage, type Tool, type ToolAnswer, type ToolCall, type ToolInference, type ToolQuestion } from "@keelson/protocol";
import type { SingleRunner } from "../../src/agent/runner/runner.ts";
import { createAgent, defineTool } from "../../src/index.ts";
import { openRunner, outputOf, scriptByTurn, type ScenarioServices } from "./scenario.ts";

const HOUR: ToolQuestion = {
  message: "When?",
  from: "the restaurant",
  schema: { type: "object", properties: { hour: { type: "integer" } }, required: ["hour"] },
};

const SUMMARY: ToolInference = { messages: [textMessage("user", "Sum up.")], maxTokens: 50 };

/** What the person of these scenarios says to such a question. */
export const HOUR_SAID = { hour: 7 };

/**
 * Tools that ask while they run: side by side reads, of which one asks the model, then people twice; an idempotent one; a write that may be made again until it
 * has its answer; and one that may not, whose question nobody answers in time.
 */
export function openAsking(services: ScenarioServices): SingleRunner {
  const { points, effects } = services;
  const tool = (name: string, effect: Tool["effect"], questions: readonly ToolQuestion[], concurrency?: Tool["concurrency"]): Tool =>
    defineTool({
      name,
      description: `Does ${name}.`,
      effect,
      input: { type: "object" },
      ...(concurrency && { concurrency }),
      async execute(_input, { ask, infer, attempt, idempotencyKey }: ToolCall) {
        if (name === "ask") await (infer as NonNullable<ToolCall["infer"]>)(SUMMARY);
        const answers: ToolAnswer[] = [];
        for (const question of questions) {
          await points.pass(`${name}/asking`);
          answers.push(await (ask as NonNullable<ToolCall["ask"]>)(question));
        }
        await points.pass(`${name}/before`);
        if (effect !== "read") effects.write({ tool: name, key: idempotencyKey, attempt });
        await points.pass(`${name}/after`);
        return effect === "write" ? outputOf(name) : (answers as never);
      },
    }) as Tool;
  return openRunner(
    services,
    () =>
      createAgent({
        name: "asking",
        model: scriptByTurn(points, "scripted/asking", (turn, { tools = [] }) => {
          if (tools.length === 0) {
            effects.write({ tool: "infer", key: "once", attempt: 1 });
            return { text: "In short." };
          }
          if (turn === 0) return { toolCalls: ["look", "mark", "ask"].map((name) => ({ name, input: {} })) };
          if (turn === 1) return { toolCalls: [{ name: "pay", input: {} }] };
          if (turn === 2) return { toolCalls: [{ name: "send", input: {} }] };
          return { text: "Done." };
        }),
        permissions: { mode: "bypass-all" },
        tools: [
          tool("ask", "read", [HOUR, { message: "Outside?" }]),
          tool("look", "read", []),
          tool("mark", "idempotent", [{ message: "With chalk?" }], "shared"),
          tool("pay", "write", [{ message: "With this card?", mayRepeat: true }]),
          tool("send", "write", [{ message: "To whom?" }]),
        ],
      }),
    undefined,
    { approvalWaitMs: 1_000 },
  );
}

// OpenAI Agents: its runner, streamed, on its Chat Completions model, with tracing off.
import { Agent, OpenAIChatCompletionsModel, Runner, setTracingDisabled, tool } from "@openai/agents";
import OpenAI from "openai";
import { z } from "zod";
import { INSTRUCTIONS, readPage, scriptName, TASK, TOOL_DESCRIPTION, TOOL_NAME } from "../task.ts";

setTracingDisabled(true);

export function create(baseUrl) {
  const client = new OpenAI({ baseURL: baseUrl, apiKey: "none" });
  const runner = new Runner({ tracingDisabled: true });
  return {
    async run(conversation, watcher) {
      const agent = new Agent({
        name: "librarian",
        instructions: INSTRUCTIONS,
        model: new OpenAIChatCompletionsModel(client, scriptName(conversation)),
        tools: [
          tool({
            name: TOOL_NAME,
            description: TOOL_DESCRIPTION,
            parameters: z.object({ book: z.string(), page: z.number() }),
            async execute({ book, page }) {
              watcher.onToolCall();
              return readPage(book, page);
            },
          }),
        ],
      });
      const result = await runner.run(agent, TASK, { stream: true, maxTurns: 10_000 });
      for await (const text of result.toTextStream()) watcher.onText(text);
      await result.completed;
      return result.finalOutput;
    },
  };
}

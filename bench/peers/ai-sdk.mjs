// The AI SDK: its agent with the tool loop, streamed, over its provider for servers that speak Chat Completions.
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { isLoopFinished, tool, ToolLoopAgent } from "ai";
import { z } from "zod";
import { INSTRUCTIONS, readPage, scriptName, TASK, TOOL_DESCRIPTION, TOOL_NAME } from "../task.ts";

globalThis.AI_SDK_LOG_WARNINGS = false;

export function create(baseUrl) {
  const provider = createOpenAICompatible({ name: "bench", baseURL: baseUrl, apiKey: "none", includeUsage: true });
  return {
    async run(conversation, watcher) {
      const agent = new ToolLoopAgent({
        model: provider(scriptName(conversation)),
        instructions: INSTRUCTIONS,
        stopWhen: isLoopFinished(),
        tools: {
          [TOOL_NAME]: tool({
            description: TOOL_DESCRIPTION,
            inputSchema: z.object({ book: z.string(), page: z.number() }),
            execute({ book, page }) {
              watcher.onToolCall();
              return readPage(book, page);
            },
          }),
        },
      });
      const result = await agent.stream({ prompt: TASK });
      for await (const text of result.textStream) watcher.onText(text);
      return await result.text;
    },
  };
}

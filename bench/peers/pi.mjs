// pi: the agent core with its own Chat Completions client.
import { Agent } from "@mariozechner/pi-agent-core";
import { Type } from "@mariozechner/pi-ai";
import { INSTRUCTIONS, readPage, scriptName, TASK, TOOL_DESCRIPTION, TOOL_NAME } from "../task.ts";

export function create(baseUrl) {
  return {
    async run(conversation, watcher) {
      const id = scriptName(conversation);
      const agent = new Agent({
        getApiKey: () => "none",
        initialState: {
          systemPrompt: INSTRUCTIONS,
          thinkingLevel: "off",
          model: {
            id,
            name: id,
            api: "openai-completions",
            provider: "bench",
            baseUrl,
            reasoning: false,
            input: ["text"],
            cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
            contextWindow: 1e9,
            maxTokens: 4096,
          },
          tools: [
            {
              name: TOOL_NAME,
              label: TOOL_NAME,
              description: TOOL_DESCRIPTION,
              parameters: Type.Object({ book: Type.String(), page: Type.Number() }),
              async execute(_callId, { book, page }) {
                watcher.onToolCall();
                return { content: [{ type: "text", text: readPage(book, page) }], details: {} };
              },
            },
          ],
        },
      });
      let text = "";
      agent.subscribe((event) => {
        if (event.type !== "message_update" || event.assistantMessageEvent.type !== "text_delta") return;
        text += event.assistantMessageEvent.delta;
        watcher.onText(event.assistantMessageEvent.delta);
      });
      await agent.prompt(TASK);
      if (agent.state.errorMessage) throw new Error(agent.state.errorMessage);
      return text;
    },
  };
}

import { AgentError, type JsonObject, type Message } from "@keelson/protocol";
import { runOf, type Loop } from "./loop.ts";

/** Has the agent's `compact` function shorten the conversation, as a recorded step. */
export async function compactConversation(loop: Loop, key: string): Promise<void> {
  const { execution, context, agent } = loop;
  if (execution.lookup(`${key}/done`)) return;
  const before = context.conversation.length;
  await context.run({
    type: "compact",
    key,
    input: { messages: before },
    execute: async () => {
      const result = await execution.step(key, async ({ signal }) => {
        const entries = context.messages.map((message, index) => ({ message, policy: context.conversation.policyAt(index) }));
        return (await agent.options.compact?.(entries, {
          signal,
          model: runOf(loop).model,
          usage: runOf(loop).totals.usage,
        })) as unknown as JsonObject;
      });
      if (!result.ok) throw new AgentError({ kind: "panic", callback: "compact", message: `compact failed: ${result.failure.message}` });
      const { messages, summary } = result.value as unknown as { readonly messages: readonly Message[]; readonly summary: string };
      execution.put(`${key}/done`, { type: "compaction", summary, messagesBefore: before, messages });
    },
  });
}

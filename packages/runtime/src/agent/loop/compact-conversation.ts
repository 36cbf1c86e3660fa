import { AgentError, type JsonObject, type Message } from "@keelson/protocol";
import { afterCompaction, mayCompact } from "../hooks/compaction-hooks.ts";
import { runOf, type Loop } from "./loop.ts";

/**
 * Has the agent's `compact` function shorten the conversation, as a recorded step.
 * @returns false when hooks want it left as it is
 */
export async function compactConversation(loop: Loop, key: string): Promise<boolean> {
  const { execution } = loop;
  if (loop.hooks !== undefined && !(await mayCompact(loop, key))) return false;
  if (!execution.lookup(`${key}/done`)) await compact(loop, key);
  if (loop.hooks !== undefined) await afterCompaction(loop, key);
  return true;
}

async function compact(loop: Loop, key: string): Promise<void> {
  const { execution, context, agent } = loop;
  const before = context.conversation.length;
  await context.run({
    type: "compact",
    key,
    input: { messages: before },
    inputIsFixed: true,
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
      const { messages, summary } = checked(result.value);
      execution.put(`${key}/done`, "compaction", { summary, messagesBefore: before, messages });
    },
  });
}

function checked(result: unknown): { readonly messages: readonly Message[]; readonly summary: string } {
  const { messages, summary } = (result ?? {}) as { readonly messages?: unknown; readonly summary?: unknown };
  if (Array.isArray(messages) && messages.length > 0 && messages.every(isMessage) && typeof summary === "string")
    return { messages, summary };
  throw new AgentError({
    kind: "panic",
    callback: "compact",
    message: "compact must return { messages, summary }, with at least one message",
  });
}

function isMessage(value: unknown): value is Message {
  return typeof value === "object" && value !== null && "role" in value && Array.isArray((value as Message).content);
}

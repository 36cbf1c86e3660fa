import { AgentError, type Message } from "@keelson/protocol";
import type { Entry } from "../../../context/room/entry.ts";
import { afterCompaction, mayCompact } from "../hooks/compaction-hooks.ts";
import { runOf, type Loop } from "../../turn/loop.ts";
import { hooksOf } from "../hooks/loop-hooks.ts";

/** A conversation that was shortened. */
export interface Compacted {
  readonly entries: readonly Entry[];
  readonly summary: string;
  /** Absent where the agent's own function did it. */
  readonly level?: "results" | "summary" | "cut";
}

/**
 * Puts a shorter conversation in the place of the one there is, as a recorded act, with hooks and rules around it.
 * @returns false when hooks want it left as it is
 */
export async function compactConversation(loop: Loop, key: string, shorten: () => Promise<Compacted | undefined>): Promise<boolean> {
  const { execution } = loop;
  if (hooksOf(loop) !== undefined && !(await mayCompact(loop, key))) return false;
  if (!execution.has(`${key}/done`)) await compact(loop, key, shorten);
  if (hooksOf(loop) !== undefined) await afterCompaction(loop, key);
  return true;
}

/** Has the agent's `compact` function shorten the conversation. */
export function compactByAgent(loop: Loop, key: string): Promise<boolean> {
  const { execution, context, agent } = loop;
  return compactConversation(loop, key, async () => {
    const result = await execution.step(key, async ({ signal }) => {
      const entries = context.messages.map((message, index) => ({ message, policy: context.conversation.policyAt(index) }));
      return await agent.options.compact?.(entries, {
        signal,
        model: runOf(loop).model,
        usage: runOf(loop).totals.usage,
      });
    });
    if (!result.ok) throw new AgentError({ kind: "panic", callback: "compact", message: `compact failed: ${result.failure.message}` });
    const { messages, summary } = checked(result.value);
    return { entries: messages.map((message) => ({ message, policy: "normal" })), summary };
  });
}

async function compact(loop: Loop, key: string, shorten: () => Promise<Compacted | undefined>): Promise<void> {
  const { execution, context } = loop;
  const before = context.conversation.length;
  await context.run({
    type: "compact",
    key,
    input: { messages: before },
    inputIsFixed: true,
    execute: async () => {
      const compacted = await shorten();
      if (compacted === undefined) return;
      const { entries, summary, level } = compacted;
      execution.put(`${key}/done`, "compaction", {
        summary,
        messagesBefore: before,
        messages: entries.map(({ message }) => message),
        ...(entries.some(({ policy }) => policy !== "normal") && { policies: entries.map(({ policy }) => policy) }),
        ...(level && { level }),
      });
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

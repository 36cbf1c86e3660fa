import type { Message, ToolCallPart } from "@keelson/protocol";

/** Calls of the last response that have no result. */
export function openCalls(messages: readonly Message[]): readonly ToolCallPart[] {
  const finished = new Set<string>();
  for (let index = messages.length - 1; index >= 0; index--) {
    const message = messages[index];
    if (message?.role === "tool") for (const part of message.content) if (part.type === "tool-result") finished.add(part.id);
    if (message?.role === "assistant")
      return message.content.filter((part): part is ToolCallPart => part.type === "tool-call" && !finished.has(part.id));
  }
  return [];
}

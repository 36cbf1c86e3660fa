import type { Content, Message, ToolCallPart } from "@keelson/protocol";
import { isThinkingOrBlank } from "../response-failure.ts";

/**
 * Neighbouring messages of one side: those of the assistant, or those between them (user, tool and system messages). Requests
 * are encoded group by group; a group is final once another follows it.
 */
export type MessageGroup = readonly Message[];

export function isAssistantGroup(group: MessageGroup): boolean {
  return group[0]?.role === "assistant";
}

export function groupMessages(messages: readonly Message[], from: number): MessageGroup[] {
  const groups: Message[][] = [];
  let current: Message[] | undefined;
  for (let at = from; at < messages.length; at += 1) {
    const message = messages[at] as Message;
    if (current !== undefined && (current[0]?.role === "assistant") === (message.role === "assistant")) current.push(message);
    else {
      current = [message];
      groups.push(current);
    }
  }
  return groups;
}

/**
 * Leaves out responses of nothing but thinking at the end of an assistant's turn: Anthropic refuses a message that ends with thinking,
 * OpenAI reasoning without the item that it led to.
 */
export function withoutEmptyEnd(group: MessageGroup): MessageGroup {
  if (!isAssistantGroup(group)) return group;
  let length = group.length;
  while (length > 0 && (group[length - 1] as Message).content.every(isThinkingOrBlank)) length -= 1;
  return length === group.length ? group : group.slice(0, length);
}

/** The calls of a group, in their order. */
export function callsOf(group: MessageGroup): readonly ToolCallPart[] {
  const calls: ToolCallPart[] = [];
  for (let message = 0; message < group.length; message += 1) {
    const { content } = group[message] as Message;
    for (let at = 0; at < content.length; at += 1) {
      const part = content[at] as Content;
      if (part.type === "tool-call") calls.push(part);
    }
  }
  return calls;
}

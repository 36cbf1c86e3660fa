import type { ChatMessage, ChatPart, ChatUserMessage } from "./chat-wire.ts";

interface ChatOrder {
  readonly joinsUserMessages?: boolean;
  readonly afterResults?: string;
}

/** The messages between two turns of the assistant as servers want them that check the order of roles. */
export function acceptableOrder(messages: readonly ChatMessage[], { joinsUserMessages, afterResults }: ChatOrder): readonly ChatMessage[] {
  const ordered: ChatMessage[] = [];
  for (const message of messages) {
    const last = ordered.at(-1);
    if (joinsUserMessages === true && last?.role === "user" && message.role === "user") {
      ordered[ordered.length - 1] = { role: "user", content: joined(last.content, message.content) };
      continue;
    }
    if (afterResults !== undefined && last?.role === "tool" && message.role !== "tool")
      ordered.push({ role: "assistant", content: afterResults });
    ordered.push(message);
  }
  return ordered;
}

function joined(a: ChatUserMessage["content"], b: ChatUserMessage["content"]): ChatUserMessage["content"] {
  return typeof a === "string" && typeof b === "string" ? `${a}\n\n${b}` : [...parts(a), ...parts(b)];
}

function parts(content: ChatUserMessage["content"]): readonly ChatPart[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : content;
}

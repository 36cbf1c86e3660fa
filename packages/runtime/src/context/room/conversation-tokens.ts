import type { Message } from "@keelson/protocol";
import { approximateMessageTokens } from "../../providers/message-weight.ts";
import { unreadTokens } from "../../providers/token-count/unread-tokens.ts";

/** About as many tokens as these messages come to, with what they show and think. */
export function conversationTokens(messages: readonly Message[]): number {
  let tokens = approximateMessageTokens(messages);
  for (const { content } of messages) for (const part of content) tokens += unreadTokens(part);
  return Math.round(tokens);
}

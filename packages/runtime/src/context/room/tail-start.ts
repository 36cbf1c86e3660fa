import { conversationTokens } from "./conversation-tokens.ts";
import type { Entry } from "./entry.ts";

/**
 * Where begins what the model responds to next: its last calls with their results, or what was said to it since its last response. Of
 * that as much as comes to `tokens`, and at least the last message.
 */
export function tailStart(entries: readonly Entry[], tokens: number): number {
  const response = entries.findLastIndex(({ message }) => message.role === "assistant");
  if (entries[response]?.message.content.some(({ type }) => type === "tool-call")) return response;
  let start = Math.max(0, entries.length - 1);
  let left = tokens - conversationTokens(entries.slice(start).map(({ message }) => message));
  while (start > response + 1) {
    left -= conversationTokens([(entries[start - 1] as Entry).message]);
    if (left < 0) break;
    start--;
  }
  return start;
}

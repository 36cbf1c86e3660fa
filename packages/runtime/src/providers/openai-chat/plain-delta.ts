import type { DecodedEvent } from "../polled-events.ts";
import type { Fields } from "../wire-decoder.ts";
import type { ChatSaid } from "./chat-wire.ts";

/** True if a message has more than the text and calls that nearly all deltas consist of. */
export function saysMore(message: ChatSaid): boolean {
  for (const name in message) {
    if (name === "role" || name === "content" || name === "tool_calls") continue;
    const value = (message as Fields)[name];
    if (value !== null && value !== "") return true;
  }
  return false;
}

/** True if the events that were pushed since `from` are one delta of text, and ends and starts of segments before it. At least one was pushed. */
export function isOnePieceOfText(queue: readonly DecodedEvent[], from: number): boolean {
  if (queue.at(-1)?.type !== "text-delta") return false;
  for (let at = from; at < queue.length - 1; at += 1) {
    const type = queue[at]?.type;
    if (type !== "text-start" && type !== "text-end" && type !== "thinking-end") return false;
  }
  return true;
}

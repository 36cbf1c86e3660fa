import { conversationTokens } from "../../../context/room/conversation-tokens.ts";
import { approximateTokens } from "../../../providers/approximate-tokens.ts";
import { toolTokenBound } from "../../../providers/token-bound.ts";
import { offeredTools } from "../../features/output/output-request.ts";
import { runOf, sessionOf, type Loop } from "../../turn/loop.ts";

/** Nearer to its window a request is not sent: some servers cut it silently, and estimates are off by some percent. */
const FULL = 0.95;

/** Whether the next request surely fills the window of its model, as far as that is known. */
export function isTooLong(loop: Loop): boolean {
  const { contextWindow } = loop.models.resolve(runOf(loop).model).facts;
  if (contextWindow === undefined) return false;
  const { counted, conversation } = sessionOf(loop);
  const { messages } = conversation;
  // Costs nothing, and is so for nearly every request.
  if (conversation.tokenBound + toolTokenBound(offeredTools(loop)) <= FULL * contextWindow) return false;
  const tokens = counted
    ? counted.inputTokens + conversationTokens(messages.slice(counted.messages))
    : conversationTokens(messages) + approximateTokens(JSON.stringify(offeredTools(loop)));
  return tokens > FULL * contextWindow;
}

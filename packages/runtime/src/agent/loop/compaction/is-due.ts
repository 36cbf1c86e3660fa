import { approximateMessageTokens } from "../../../providers/message-weight.ts";
import { thresholdsOf } from "../../definition/compaction/compaction-options.ts";
import type { ConversationSize } from "../../definition/middleware/prompt-middleware.ts";
import { isOverThreshold } from "../../definition/middleware/summarisation-mark.ts";
import { runOf, sessionOf, type Loop } from "../../turn/loop.ts";

/** Whether the conversation passed a threshold of its agent, or middleware marks it. */
export function isDue(loop: Loop): boolean {
  const { compaction } = loop.agent.options;
  const middleware = loop.agent.middleware?.stack;
  if (middleware?.marks === true && middleware.marksForSummary(conversationSize(loop))) return true;
  if (compaction === undefined) return false;
  const thresholds = thresholdsOf(compaction);
  const { maxTokens = Number.POSITIVE_INFINITY, maxContextUtilization = Number.POSITIVE_INFINITY } = thresholds;
  const { conversation, counted } = sessionOf(loop);
  const { contextWindow = Number.POSITIVE_INFINITY } = loop.models.resolve(runOf(loop).model).facts;
  const mostTokens = Math.min(maxTokens, maxContextUtilization * contextWindow);
  // Costs nothing, and is so for nearly every turn.
  if (counted === undefined && conversation.tokenBound <= mostTokens) return isOverThreshold(thresholds, sizeWith(loop, 0));
  return isOverThreshold(thresholds, conversationSize(loop));
}

function conversationSize(loop: Loop): ConversationSize {
  const { counted, conversation } = sessionOf(loop);
  const { messages } = conversation;
  return sizeWith(loop, (counted?.inputTokens ?? 0) + approximateMessageTokens(counted ? messages.slice(counted.messages) : messages));
}

function sizeWith(loop: Loop, tokens: number): ConversationSize {
  const { contextWindow } = loop.models.resolve(runOf(loop).model).facts;
  return {
    messages: sessionOf(loop).conversation.length,
    tokens,
    contextUtilization: contextWindow === undefined ? null : Math.min(1, tokens / contextWindow),
  };
}

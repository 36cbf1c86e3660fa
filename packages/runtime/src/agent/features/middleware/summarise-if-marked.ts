import { compactByAgent } from "../compaction/compact-conversation.ts";
import { runOf, sessionOf, type Loop } from "../../turn/loop.ts";
import { approximateMessageTokens } from "../../../providers/token-calibration.ts";
import type { ConversationSize } from "../../definition/middleware/prompt-middleware.ts";
import type { MiddlewareStack } from "../../definition/middleware/middleware-stack.ts";

/** Shortens the conversation before the turn's first inference, where middleware marks it as too long. */
export function summariseIfMarked(loop: Loop, turn: string): Promise<void> | undefined {
  const middleware = loop.agent.middleware?.stack;
  // A replay that is past the inference is past this.
  if (!middleware?.marks || loop.execution.lookup(`${turn}/infer/0`) || !middleware.marksForSummary(sizeOf(loop))) return undefined;
  return summarise(loop, turn, middleware);
}

async function summarise(loop: Loop, turn: string, middleware: MiddlewareStack): Promise<void> {
  await compactByAgent(loop, `${turn}/summarise`);
  if (middleware.marksForSummary(sizeOf(loop)))
    loop.execution.emit({
      type: "status",
      level: "warn",
      status:
        "The conversation is still marked for summarising after `compact` shortened it: it will be compacted again with the next turn.",
    });
}

function sizeOf(loop: Loop): ConversationSize {
  const { counted, conversation } = sessionOf(loop);
  const { messages } = conversation;
  const tokens = (counted?.inputTokens ?? 0) + approximateMessageTokens(counted ? messages.slice(counted.messages) : messages);
  const { contextWindow } = loop.models.resolve(runOf(loop).model).facts;
  return {
    messages: messages.length,
    tokens,
    contextUtilization: contextWindow === undefined ? null : Math.min(1, tokens / contextWindow),
  };
}

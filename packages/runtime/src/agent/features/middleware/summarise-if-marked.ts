import { compactByAgent } from "../compaction/compact-conversation.ts";
import { runOf, sessionOf, type Loop } from "../../turn/loop.ts";
import { approximateMessageTokens } from "../../../providers/token-calibration.ts";
import type { ConversationSize } from "../../definition/middleware/prompt-middleware.ts";
import type { MiddlewareStack } from "../../definition/middleware/middleware-stack.ts";
import type { Step } from "../../turn/moments.ts";

/** Shortens the conversation before the turn's first inference, where middleware marks it as too long. */
export const summariseStep: Step = {
  name: "summary by middleware",
  applies(loop, { turn }) {
    const middleware = loop.agent.middleware?.stack;
    // A replay that is past the inference is past this.
    return middleware?.marks === true && !loop.execution.has(`${turn}/infer/0`) && middleware.marksForSummary(sizeOf(loop));
  },
  run: (loop, { turn }) => summarise(loop, turn, loop.agent.middleware?.stack as MiddlewareStack),
};

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

import { textMessage, type Message } from "@keelson/protocol";
import { messageOperation } from "../../context/message-operation.ts";
import { endsByItself } from "../../providers/response-failure.ts";
import { isBackgroundOpen } from "../features/children/await-background.ts";
import { runOf, type Loop } from "../turn/loop.ts";
import { saysNothing, type ModelResponse } from "../turn/model-response.ts";
import type { Place } from "../turn/moments.ts";

const CLOSING: Message = textMessage(
  "user",
  "Your last answer was empty. If the work is done, say now what came of it: this will be your final answer. If something is left to do, do it.",
);

/**
 * Asks for the closing text of a run that did something and then ended with an empty response. It is not asked for if the run goes on
 * anyway, is to stop, or may make no further model call.
 * @returns true if the model is to respond again within the turn
 */
export async function askForClosing(loop: Loop, { turn }: Place, response: ModelResponse): Promise<boolean> {
  const { execution } = loop;
  if (!endsByItself(response.stopReason) || !saysNothing(response)) return false;
  const key = `${turn}/closing/${response.modelCall}`;
  if (execution.has(`${key}/message`)) return true;
  if (isBackgroundOpen(loop)) return false;
  if (execution.hasUnread) await loop.readInbox();
  const run = runOf(loop);
  const isSteered = loop.context.messages.at(-1)?.role === "user";
  const isEnding = run.stopping !== undefined || loop.attempts.stopped || loop.attempts.runAborted;
  if (isSteered || isEnding || run.totals.modelCalls >= loop.limits.maxModelCalls) return false;
  await loop.context.run(
    messageOperation("inject-message", key, CLOSING, (message) => execution.put(`${key}/message`, "message", { message })),
  );
  return execution.has(`${key}/message`);
}

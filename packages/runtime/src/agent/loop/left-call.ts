import { type Message, textMessage } from "@keelson/protocol";
import { messageOperation } from "../../context/message-operation.ts";
import { CALL_MARKUPS, type CallMarkupName, readCallMarkup } from "../../providers/call-markup/call-markup.ts";
import { isInConversation } from "../../providers/call-markup/echoed-markup.ts";
import { offeredTools } from "../features/output/output-request.ts";
import { textOf } from "../features/output/settle-output.ts";
import { cutShort, type ModelResponse } from "../turn/model-response.ts";
import type { Loop } from "../turn/loop.ts";

const KINDS = Object.keys(CALL_MARKUPS) as CallMarkupName[];
const OPENERS = KINDS.flatMap((kind) => CALL_MARKUPS[kind].openers);
const NOTE: Message = textMessage(
  "user",
  "Your answer ended with a tool call that was written as text, so that nothing was called. If you need the tool, call it through the tool interface. If this text is your answer, repeat it.",
);

/**
 * Asks the model for a real call if its last words are the markup of one. A text that only quotes markup, in a fence or with words behind
 * it, is an answer, and so is markup that the conversation held before: the model repeats it, and must not be led to call it. The model is
 * asked once in a row, so that it can keep to its answer. Returns true if it was asked.
 */
export async function askForRealCall(loop: Loop, key: string, response: ModelResponse): Promise<boolean> {
  if (response.calls.length > 0 || cutShort(response) || offeredTools(loop).length === 0) return false;
  const markup = markupAtEnd(textOf(response.message));
  if (markup === undefined) return false;
  const { messages } = loop.context;
  const before = messages.slice(0, -1);
  if (before.at(-1)?.content.some((part) => part.type === "text" && part.text === textOf(NOTE)) === true) {
    loop.execution.emit({
      type: "status",
      level: "warn",
      status: "The model wrote a tool call as text once more; the text is its answer.",
    });
    return false;
  }
  if (isInConversation(before, [markup])) return false;
  await loop.context.run(
    messageOperation("inject-message", key, NOTE, (message) => loop.execution.put(`${key}/message`, "message", { message })),
  );
  return true;
}

/** The markup of calls with which a text ends, outside of fences and at the beginning of a line. */
export function markupAtEnd(text: string): string | undefined {
  if (!OPENERS.some((opener) => text.includes(opener))) return undefined;
  let isFenced = false;
  let at = 0;
  for (const line of text.split("\n")) {
    if (/^\s*(?:```|~~~)/.test(line)) isFenced = !isFenced;
    else if (!isFenced && OPENERS.some((opener) => line.trimStart().startsWith(opener))) {
      const rest = text.slice(at);
      if (readCallMarkup(rest, KINDS, []) !== undefined) return rest.trim();
    }
    at += line.length + 1;
  }
  return undefined;
}

import { countOf, fieldsOf } from "../wire-decoder.ts";
import type { ChatChoice, ChatResponse } from "./chat-wire.ts";

/** Returns the first choice of a response. Requests ask for no others, and others are ignored. */
export function firstChoice(response: ChatResponse): ChatChoice | undefined {
  const choices = response["choices"];
  if (!Array.isArray(choices)) return undefined;
  for (let at = 0; at < choices.length; at += 1) {
    const choice: ChatChoice | undefined = fieldsOf(choices[at]);
    if (choice !== undefined && (choice["index"] === 0 || (countOf(choice["index"]) ?? 0) === 0)) return choice;
  }
  return undefined;
}

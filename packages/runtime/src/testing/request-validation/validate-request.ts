import { validateAnthropicRequest } from "./anthropic-messages.ts";
import { validateGeminiRequest } from "./gemini.ts";
import { validateOllamaRequest } from "./ollama-chat.ts";
import { validateChatRequest } from "./openai-chat.ts";
import { validateResponsesRequest } from "./openai-responses.ts";
import { checkWellFormed } from "./check-text.ts";
import { RequestCheck, type RequestFacts, type RequestProblem } from "./request-check.ts";
import { checkOptionNames } from "../../json/option-names.ts";

export type { RequestFacts, RequestProblem } from "./request-check.ts";

/** The wires whose rules are known. */
export type ValidatedWire = "anthropic-messages" | "openai-chat" | "openai-responses" | "gemini" | "ollama-chat";

const VALIDATORS: { readonly [wire in ValidatedWire]: (body: unknown, facts?: RequestFacts) => readonly RequestProblem[] } = {
  "anthropic-messages": validateAnthropicRequest,
  "openai-chat": validateChatRequest,
  "openai-responses": validateResponsesRequest,
  "gemini": validateGeminiRequest,
  "ollama-chat": validateOllamaRequest,
};

export const VALIDATED_WIRES: readonly ValidatedWire[] = Object.keys(VALIDATORS) as ValidatedWire[];

/**
 * What the API of a wire would refuse in a request: role order, unpaired calls, names, ids, schemas of tools, media types, text
 * without UTF-8, empty content, missing fields, lost signatures. Empty when it would take it. For tests of anything that builds requests.
 *
 * @example expect(validateRequest("openai-chat", JSON.parse(body))).toEqual([]);
 */
export function validateRequest(wire: ValidatedWire, body: unknown, facts: RequestFacts = {}): readonly RequestProblem[] {
  checkOptionNames("validateRequest", facts, { model: true, vendor: true, stored: true });
  const text = new RequestCheck();
  checkWellFormed(text, body);
  return [...VALIDATORS[wire](body, facts), ...text.problems];
}

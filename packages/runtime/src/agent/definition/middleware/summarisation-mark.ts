import { AgentError, type SummarisationThresholds } from "@keelson/protocol";
import type { ConversationSize, PromptMiddleware } from "./prompt-middleware.ts";
import { checkOptionNames, type OptionNames } from "../../../json/option-names.ts";

const THRESHOLDS: OptionNames<SummarisationThresholds> = { maxMessages: true, maxTokens: true, maxContextUtilization: true };

export const DEFAULT_THRESHOLDS: SummarisationThresholds = { maxMessages: 50, maxTokens: 80_000, maxContextUtilization: 0.8 };

/**
 * Middleware that marks a conversation for summarising once it is over one of the thresholds; one that is left out is not looked
 * at. The agent's `compact` then shortens it in the same turn, before the model is asked.
 *
 * Default thresholds: 50 messages, 80,000 tokens, 0.8 of what the model can read.
 * @throws AgentError of kind `invalid-option` for a threshold that is none
 */
export function summarisationMark(thresholds: SummarisationThresholds = DEFAULT_THRESHOLDS): PromptMiddleware {
  checkThresholds("summarisationMark", thresholds);
  return { name: "summarisation-mark", marksForSummary: (size) => isOverThreshold(thresholds, size) };
}

/** As options give them. */
export type Thresholds = { readonly [Name in keyof SummarisationThresholds]?: SummarisationThresholds[Name] | undefined };

/** Whether a conversation has passed one of the thresholds that are set. What is unknown has passed none. */
export function isOverThreshold(thresholds: Thresholds, { messages, tokens, contextUtilization }: ConversationSize): boolean {
  checkOptionNames("isOverThreshold", thresholds, THRESHOLDS);
  const { maxMessages, maxTokens, maxContextUtilization } = thresholds;
  return (
    (maxMessages !== undefined && messages > maxMessages) ||
    (maxTokens !== undefined && tokens > maxTokens) ||
    (maxContextUtilization !== undefined && contextUtilization !== null && contextUtilization > maxContextUtilization)
  );
}

/** @throws AgentError of kind `invalid-option` for a threshold that is none */
export function checkThresholds(of: string, thresholds: Thresholds): void {
  checkOptionNames(of, thresholds, THRESHOLDS);
  check("maxMessages", thresholds.maxMessages, 1, Number.MAX_SAFE_INTEGER);
  check("maxTokens", thresholds.maxTokens, 1, Number.MAX_SAFE_INTEGER);
  check("maxContextUtilization", thresholds.maxContextUtilization, 0, 1);
}

function check(name: keyof SummarisationThresholds, value: number | undefined, least: number, most: number): void {
  if (value === undefined || (Number.isFinite(value) && value >= least && value <= most)) return;
  const range = most === 1 ? "a ratio from 0 to 1" : `a number of at least ${least}`;
  throw new AgentError({ kind: "invalid-option", option: name, message: `${name} must be ${range}, not ${String(value)}.` });
}

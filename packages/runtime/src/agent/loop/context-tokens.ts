import { conversationTokens } from "../../context/room/conversation-tokens.ts";
import { approximateTokens } from "../../providers/approximate-tokens.ts";
import { offeredTools } from "../features/output/output-request.ts";
import { outputOf } from "../features/output/run-output.ts";
import { runOf, sessionOf, type Loop } from "../turn/loop.ts";
import type { InputEstimate } from "./bill-attempt.ts";
import { systemText } from "./system-prompt.ts";

/**
 * Returns the approximate tokens of the next request. It adds what came since the last request to what the vendor counted for that
 * one. If no count holds any more, for example after a compaction, all of the request is estimated.
 */
export function contextTokens(loop: Loop): number {
  const { counted, conversation } = sessionOf(loop);
  const { messages } = conversation;
  if (counted !== undefined) return counted.inputTokens + conversationTokens(messages.slice(counted.messages));
  return conversationTokens(messages) + approximateTokens(JSON.stringify(offeredTools(loop))) + approximateTokens(systemOf(loop) ?? "");
}

/** Estimates the next request. A vendor that cached the last one probably reads that much from its cache again. */
export function inputEstimate(loop: Loop): InputEstimate {
  const { cacheReadTokens = 0, cacheCreationTokens = 0 } = sessionOf(loop).counted ?? {};
  return { tokens: contextTokens(loop), cached: cacheReadTokens + cacheCreationTokens };
}

/** False while the instructions of the agent are a function that was not called for this run. */
export function isSystemKnown(loop: Loop): boolean {
  return typeof loop.agent.options.instructions !== "function" || runOf(loop).instructions !== undefined;
}

/** The system prompt of the run, as far as it is known without calling a function of the agent. */
export function systemOf(loop: Loop): string | undefined {
  const { instructions } = loop.agent.options;
  const { instructions: returned, terms } = runOf(loop);
  const base = typeof instructions === "function" ? returned : instructions;
  return systemText(loop.agent, base, terms?.systemAddendum, outputOf(loop).form?.instructions);
}

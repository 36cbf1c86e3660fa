import { UNKNOWN_USAGE, ZERO_USD, type BudgetScope, type ModelFailure, type Usage, type Usd } from "@keelson/protocol";
import { conversationTokens } from "../../context/room/conversation-tokens.ts";
import type { InferFold } from "../../providers/infer-fold.ts";
import { credibleUsage } from "../../providers/token-count/credible-usage.ts";
import { costOf, worstCase } from "../../providers/prices.ts";
import type { ModelPrice } from "../../providers/model-price.ts";
import type { Reserved } from "./reserve-inference.ts";

/** What an attempt at a response counts as. */
export interface Bill {
  readonly usage: Usage;
  readonly cost: Usd | null;
  /** How it was estimated, where the vendor did not tell all of it. */
  readonly estimated?: "reserve" | "estimate";
}

/** The approximate tokens of a request, and how many of them a vendor probably read from its cache. */
export interface InputEstimate {
  readonly tokens: number;
  readonly cached: number;
}

/** An attempt that is over, well or not. */
export interface Attempted {
  readonly price: ModelPrice | null;
  readonly inputBound: number;
  /** Estimates the tokens of the request. It is called only if the vendor reported none and no limit holds the reservation. */
  estimateInput(): InputEstimate;
  readonly reserved: Reserved;
  readonly fold: InferFold;
}

const NOTHING_USED: Usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheCreationTokens: 0, reasoningTokens: 0 };
export const NO_BILL: Bill = { usage: NOTHING_USED, cost: ZERO_USD };

/**
 * What the vendor reported counts, also of a response that broke off. A request that was never sent, and one that he refused, cost
 * nothing. Of every other one without a report nobody knows what he generated unseen: it counts as all that was reserved for it, or,
 * where that was chosen or nothing is limited, as what was sent and seen of it, which is never more than was reserved.
 */
export function billAttempt(attempted: Attempted, scopes: readonly BudgetScope[], failure?: ModelFailure): Bill {
  const { price, inputBound, reserved, fold } = attempted;
  // The bound of the input counts bytes, and so would the seen output: several times the tokens that text comes to.
  const reported = fold.end?.usage ?? (failure?.usage && credibleUsage(failure.usage));
  const isWhole = reported !== undefined && reported.inputTokens !== null && reported.outputTokens !== null;
  if (isWhole) return { usage: reported, cost: costOf(reported, price) };
  if (reported === undefined && failure !== undefined && isFree(failure)) return NO_BILL;
  const { outputTokens } = reserved;
  const estimated = outputTokens === undefined ? "estimate" : withoutUsageOf(scopes);
  const isHeld = estimated === "reserve";
  const unseen = isHeld ? (outputTokens as number) : Math.min(seenTokens(fold), outputTokens ?? Number.POSITIVE_INFINITY);
  const estimate = isHeld || (reported?.inputTokens ?? null) !== null ? undefined : attempted.estimateInput();
  const input = reported?.inputTokens ?? Math.min(inputBound, Math.ceil(estimate?.tokens ?? inputBound));
  const cached = Math.min(input, estimate?.cached ?? 0);
  const output = reported?.outputTokens ?? unseen;
  const usage: Usage = {
    ...(reported ?? UNKNOWN_USAGE),
    inputTokens: input,
    outputTokens: output,
    ...(cached > 0 && { cacheReadTokens: cached }),
  };
  // What the vendor did not count stays unknown where no limit needs a number.
  const told = reported !== undefined && outputTokens === undefined ? reported : usage;
  if (price === null) return { usage: told, cost: null, ...(told === usage && { estimated }) };
  return { usage: told, cost: estimated === "reserve" ? worstCase(input, output, price) : costOf(usage, price), estimated };
}

/** The approximate tokens of what was seen of a response. */
function seenTokens({ content }: InferFold): number {
  return content.length === 0 ? 0 : conversationTokens([{ role: "assistant", content }]);
}

function isFree({ progress, status }: ModelFailure): boolean {
  if (progress !== undefined) return progress === "unsent" || progress === "refused";
  return status !== undefined && status >= 400;
}

/** Whoever set a limit chose: only where all of them said so is one of them not held. */
function withoutUsageOf(scopes: readonly BudgetScope[]): "reserve" | "estimate" {
  const holds = ({ maxCost, maxTokens, withoutUsage }: BudgetScope): boolean =>
    (maxCost !== undefined || maxTokens !== undefined) && withoutUsage !== "estimate";
  return scopes.some(holds) ? "reserve" : "estimate";
}

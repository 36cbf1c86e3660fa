import { AgentError, LogError, UNKNOWN_USAGE, ZERO_USD, type BudgetAmount, type Usage, type Usd } from "@keelson/protocol";
import type { InferenceData } from "../../../session/record-data.ts";
import { worstCase } from "../../../providers/prices.ts";
import type { ModelSource } from "../../definition/model-source.ts";
import { countedAmount, type BudgetMeter } from "./budget-meter.ts";
import { spendOnLedger, type Spending } from "./spend-on-ledger.ts";

/** How much a call may generate under a limit of money or tokens when nobody says otherwise. */
export const DEFAULT_MAX_OUTPUT_TOKENS: number = 4096;

/**
 * Returns the usage of a model call that was interrupted by a crash: the whole of its reservation.
 * @param estimateInput estimates the tokens of the request, for a run without a limit of money or tokens: the bound of the input counts bytes
 */
export function unseenUsage(
  begun: InferenceData,
  models: ModelSource,
  estimateInput?: () => number,
): { readonly usage: Usage; readonly cost: Usd | null } {
  const estimate = estimateInput === undefined ? Number.POSITIVE_INFINITY : Math.ceil(estimateInput());
  const counted = { ...begun, inputBound: Math.min(begun.inputBound, estimate) };
  const usage: Usage = { ...UNKNOWN_USAGE, inputTokens: counted.inputBound, outputTokens: begun.outputTokens ?? begun.maxTokens ?? null };
  return { usage, cost: begun.reserved ?? worstCaseOf(counted, models) };
}

/** `null` where the price is unknown, and where the model itself is by now. */
function worstCaseOf({ model, inputBound, maxTokens, outputTokens = maxTokens }: InferenceData, models: ModelSource): Usd | null {
  try {
    const { price } = models.resolve(model);
    return price === null ? null : worstCase(inputBound, outputTokens ?? DEFAULT_MAX_OUTPUT_TOKENS, price);
  } catch (error) {
    if (AgentError.is(error, "model")) return null;
    throw error;
  }
}

/** What budgets count of one model call. */
export function inferenceAmount(
  meter: Pick<BudgetMeter, "counts">,
  { inputTokens, outputTokens }: Usage,
  cost: Usd | null,
): Usd | BudgetAmount {
  const tokens = (inputTokens ?? 0) + (outputTokens ?? 0);
  return countedAmount(meter, { cost: cost ?? ZERO_USD, tokens, turns: 0, toolCalls: 0, modelCalls: 1 });
}

/** Spends it on the ledger, which may hold the reservation still, know of its settlement, or have forgotten it with its process. */
export async function spendUnseen(spending: Spending, key: string, amount: Usd | BudgetAmount): Promise<void> {
  try {
    await spending.ledger.settle(key, amount);
  } catch (error) {
    // Settled, only not recorded: what it really cost is spent.
    if (LogError.is(error, "invalid-input")) return;
    if (!LogError.is(error, "not-found")) throw error;
    await spendOnLedger(spending, key, amount);
  }
}

import { LogError, type Usage, type Usd } from "@keelson/protocol";
import type { BudgetMeter } from "../features/budget/budget-meter.ts";
import { markBudgets } from "../features/budget/mark-budgets.ts";
import { spendOnLedger } from "../features/budget/spend-on-ledger.ts";
import { inferenceAmount, spendUnseen, unseenUsage } from "../features/budget/unseen-inference.ts";
import type { Model } from "../definition/model-source.ts";
import { contextTokens, isSystemKnown } from "./context-tokens.ts";
import type { Bill } from "./bill-attempt.ts";
import type { Loop } from "../turn/loop.ts";
import { meterOf } from "../features/budget/budget-meter.ts";
import { ledgerOf } from "../features/budget/run-ledger.ts";

/** What a model call was for, where that is no response of the run. */
export type InferencePurpose = "compaction" | "tool";

/** Tells the ledger and the log what a model call used. */
export async function settle(
  loop: Loop,
  key: string,
  model: Model,
  { usage, cost, estimated }: Bill,
  purpose?: InferencePurpose,
): Promise<void> {
  const { execution } = loop;
  const { scopes } = ledgerOf(loop);
  const meter = meterOf(loop);
  if (meter !== undefined && scopes.length > 0) await settleOnLedger(loop, meter, key, usage, cost);
  const { inputTokens, outputTokens } = usage;
  const { contextWindow } = model.facts;
  execution.put(
    `${key}/usage`,
    "usage",
    {
      usage,
      cost,
      model: model.reference,
      // How much of what the model can read the conversation took up with this call, where both are known.
      ...(contextWindow !== undefined &&
        purpose === undefined &&
        inputTokens !== null && { contextUtilization: Math.min(1, (inputTokens + (outputTokens ?? 0)) / contextWindow) }),
      ...(estimated !== undefined && { estimated: true as const }),
      ...(estimated === "estimate" && { withoutUsage: estimated }),
      ...(purpose && { purpose }),
    },
    scopes.length > 0 ? "power" : undefined,
  );
  if (meter?.marksModelCalls) await markBudgets(loop, meter);
}

async function settleOnLedger(loop: Loop, meter: BudgetMeter, key: string, usage: Usage, cost: Usd | null): Promise<void> {
  const reservation = `${loop.execution.runId}/${key}`;
  const amount = inferenceAmount(meter, usage, cost);
  try {
    await ledgerOf(loop).ledger.settle(reservation, amount);
  } catch (error) {
    // Settled by an earlier life, of which a power cut left the ledger's part only: this call was made as well.
    if (!LogError.is(error, "invalid-input")) throw error;
    await spendOnLedger(ledgerOf(loop), `${reservation}/again`, amount);
  }
}

/** A reservation whose end nobody saw (a crash came first) is spent as a whole. */
export async function settleUnseen(loop: Loop, key: string): Promise<void> {
  const { execution, models } = loop;
  const { scopes } = ledgerOf(loop);
  const meter = meterOf(loop);
  if (execution.has(`${key}/usage`)) return;
  const begun = execution.lookup(key, "inference");
  if (begun === undefined) return;
  const isHeld = meter !== undefined && (meter.counts.cost || meter.counts.tokens);
  // A rehearsal does not know the prompt that a function of the agent returns.
  if (!isHeld && !isSystemKnown(loop)) execution.goOutside(`the instructions of ${loop.agent.name}`);
  const { usage, cost } = unseenUsage(begun.data, models, isHeld ? undefined : () => contextTokens(loop));
  if (meter !== undefined && scopes.length > 0)
    await spendUnseen(ledgerOf(loop), `${execution.runId}/${key}`, inferenceAmount(meter, usage, cost));
  execution.put(`${key}/usage`, "usage", { usage, cost, model: begun.data.model, estimated: true }, "power");
}

import {
  AgentError,
  LogError,
  UNKNOWN_USAGE,
  ZERO_USD,
  type BudgetAmount,
  type DurableEvent,
  type Usage,
  type Usd,
} from "@keelson/protocol";
import { worstCase } from "../../providers/prices.ts";
import { countedAmount, type BudgetMeter } from "../budget/budget-meter.ts";
import { markBudgets } from "../budget/mark-budgets.ts";
import type { Model } from "../model-source.ts";
import type { Loop } from "./loop.ts";
import { DEFAULT_MAX_OUTPUT_TOKENS } from "./reserve-inference.ts";

export const NOTHING_USED: Usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheCreationTokens: 0, reasoningTokens: 0 };

/** More than the tokens of what was sent and received: a token is at least a byte. */
export function estimatedUsage(inputBound: number, receivedBytes: number): Usage {
  return { ...UNKNOWN_USAGE, inputTokens: inputBound, outputTokens: receivedBytes };
}

/** Tells the ledger and the log what a model call used. */
export async function settle(loop: Loop, key: string, model: Model, usage: Usage, cost: Usd | null, estimated: boolean): Promise<void> {
  const { execution, meter, scopes } = loop;
  if (meter !== undefined && scopes.length > 0) await settleOnLedger(loop, meter, key, usage, cost);
  const event: DurableEvent = {
    type: "usage",
    usage,
    cost,
    model: model.reference,
    ...contextUtilization(usage, model),
    ...(estimated && { estimated: true as const }),
  };
  execution.put(`${key}/usage`, event, scopes.length > 0 ? "power" : undefined);
  if (meter !== undefined) await markBudgets(loop, meter);
}

async function settleOnLedger(loop: Loop, meter: BudgetMeter, key: string, usage: Usage, cost: Usd | null): Promise<void> {
  const reservation = `${loop.execution.runId}/${key}`;
  const amount = spentAmount(meter, usage, cost);
  try {
    await loop.ledger.settle(reservation, amount);
  } catch (error) {
    // Settled by an earlier life, of which a power cut left the ledger's part only: this call was made as well.
    if (!LogError.is(error, "invalid-input")) throw error;
    await spend(loop, `${reservation}/again`, amount);
  }
}

function spentAmount(meter: BudgetMeter, { inputTokens, outputTokens }: Usage, cost: Usd | null): Usd | BudgetAmount {
  const tokens = (inputTokens ?? 0) + (outputTokens ?? 0);
  return countedAmount(meter, { cost: cost ?? ZERO_USD, tokens, turns: 0, toolCalls: 0, modelCalls: 1 });
}

/** Counts what is spent already: no limit stands in its way. */
async function spend({ ledger, scopes, owner }: Loop, key: string, amount: Usd | BudgetAmount): Promise<void> {
  await ledger.reserve(
    key,
    scopes.map(({ id }) => ({ id })),
    amount,
    { owner },
  );
  await ledger.settle(key, amount);
}

/** How much of what the model can read the conversation took up with this call, where both are known. */
function contextUtilization({ inputTokens, outputTokens }: Usage, { facts }: Model): { readonly contextUtilization?: number } {
  if (facts.contextWindow === undefined || inputTokens === null) return {};
  return { contextUtilization: Math.min(1, (inputTokens + (outputTokens ?? 0)) / facts.contextWindow) };
}

/** A reservation whose end nobody saw (a crash came first) is spent as a whole. */
export async function settleUnseen(loop: Loop, key: string): Promise<void> {
  if (loop.execution.lookup(`${key}/usage`)) return;
  const data = loop.execution.lookup(key)?.data as {
    readonly model: string;
    readonly inputBound: number;
    readonly maxTokens?: number;
    readonly reserved?: Usd;
  };
  const usage: Usage = { ...UNKNOWN_USAGE, inputTokens: data.inputBound, outputTokens: data.maxTokens ?? null };
  const cost = data.reserved ?? worstCaseOf(loop, data);
  await chargeUnseen(loop, key, usage, cost);
  loop.execution.put(`${key}/usage`, { type: "usage", usage, cost, model: data.model, estimated: true }, "power");
}

/** `null` where the price is unknown, and where the model itself is by now. */
function worstCaseOf(
  loop: Loop,
  inference: { readonly model: string; readonly inputBound: number; readonly maxTokens?: number },
): Usd | null {
  try {
    const { price } = loop.models.resolve(inference.model);
    return price === null ? null : worstCase(inference.inputBound, inference.maxTokens ?? DEFAULT_MAX_OUTPUT_TOKENS, price);
  } catch (error) {
    if (AgentError.is(error, "model")) return null;
    throw error;
  }
}

/** Spends it on the ledger, which may hold the reservation still, know of its settlement, or have forgotten it with its process. */
async function chargeUnseen(loop: Loop, key: string, usage: Usage, cost: Usd | null): Promise<void> {
  const { ledger, meter, scopes, execution } = loop;
  if (meter === undefined || scopes.length === 0) return;
  const reservation = `${execution.runId}/${key}`;
  const amount = spentAmount(meter, usage, cost);
  try {
    await ledger.settle(reservation, amount);
  } catch (error) {
    // Settled, only not recorded: what it really cost is spent.
    if (LogError.is(error, "invalid-input")) return;
    if (!LogError.is(error, "not-found")) throw error;
    await spend(loop, reservation, amount);
  }
}

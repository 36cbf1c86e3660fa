import { AgentError, compareUsd, LogError, subtractUsd, ZERO_USD, type InferRequest, type Reservation, type Usd } from "@keelson/protocol";
import { worstCase } from "../../providers/prices.ts";
import { countedAmount, type BudgetMeter } from "../budget/budget-meter.ts";
import { refusedByBudget } from "../budget/mark-budgets.ts";
import type { Model } from "../model-source.ts";
import type { Loop } from "./loop.ts";
import { checkEnding, RunEnding } from "./run-ending.ts";

/** What a call may answer under a limit of money or tokens when nobody says otherwise. */
export const DEFAULT_MAX_OUTPUT_TOKENS: number = 4096;
/** Budgets lower the output of a call down to this, not further. */
const LEAST_OUTPUT_TOKENS = 1024;

export interface Reserved {
  readonly amount?: Usd;
  readonly maxTokens?: number;
}

/**
 * Reserves the worst case of a call on every budget above it. Where only others' reservations stand in the way, its output is
 * lowered; where that does not help it waits in line. What is spent refuses.
 */
export async function reserveInference(
  loop: Loop,
  key: string,
  model: Model,
  request: InferRequest,
  inputBound: number,
): Promise<Reserved> {
  const { meter, execution } = loop;
  if (meter === undefined || loop.scopes.length === 0) return request.maxTokens === undefined ? {} : { maxTokens: request.maxTokens };
  if (model.price === null) checkUnknownPrice(meter, model);
  const isLowered = meter.counts.cost || meter.counts.tokens;
  if (!isLowered && request.maxTokens === undefined) return reserveAtMost(loop, meter, key, model, inputBound, undefined);
  const reservation = `${execution.runId}/${key}`;
  try {
    return await reserveAtMost(loop, meter, key, model, inputBound, request.maxTokens ?? DEFAULT_MAX_OUTPUT_TOKENS);
  } catch (error) {
    // Nothing was sent: neither a place in the line nor a reservation of an earlier life may stay behind.
    await loop.ledger.release(reservation);
    throw error;
  }
}

async function reserveAtMost(
  loop: Loop,
  meter: BudgetMeter,
  key: string,
  model: Model,
  inputBound: number,
  mostTokens: number | undefined,
): Promise<Reserved> {
  const { ledger, scopes, execution } = loop;
  const reservation = `${execution.runId}/${key}`;
  let most = mostTokens;
  let maxTokens = most;
  let inTurn = false;
  for (;;) {
    const cost = model.price === null ? ZERO_USD : worstCase(inputBound, maxTokens ?? DEFAULT_MAX_OUTPUT_TOKENS, model.price);
    const wanted = countedAmount(meter, { cost, tokens: inputBound + (maxTokens ?? 0), turns: 0, toolCalls: 0, modelCalls: 1 });
    const answer = await reserveAnew(loop, reservation, wanted, { owner: loop.owner, inTurn });
    if (answer.type === "reserved") return { ...(model.price !== null && { amount: cost }), ...(maxTokens !== undefined && { maxTokens }) };
    const fitting = maxTokens === undefined ? undefined : largestOutput(answer, inputBound, maxTokens, model);
    if (fitting !== undefined && fitting < (maxTokens as number)) {
      maxTokens = fitting;
      // What is spent stays spent: there is no use in asking for more again.
      if (answer.type === "refused") most = fitting;
      continue;
    }
    if (answer.type === "refused") {
      refusedByBudget(loop, key, answer);
      throw new RunEnding("budget-exhausted");
    }
    if (!inTurn) {
      inTurn = true;
      continue;
    }
    loop.debug?.(`waits for the budget "${answer.scope}": ${answer.available} ${answer.unit ?? "dollars"} available`);
    await ledger.changed(meter.scopeIds, { signal: loop.waiting, key: reservation });
    checkEnding(loop);
    if (execution.stopping.aborted) throw new RunEnding("stopped");
    maxTokens = most;
  }
}

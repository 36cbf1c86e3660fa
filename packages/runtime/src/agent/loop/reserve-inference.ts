import { AgentError, compareUsd, subtractUsd, type InferRequest, type Usd } from "@keelson/protocol";
import { worstCase } from "../../providers/prices.ts";
import type { Model } from "../model-source.ts";
import type { Loop } from "./loop.ts";
import { checkEnding, RunEnding } from "./run-ending.ts";

/** What a call may answer under a money limit when nobody says otherwise. */
export const DEFAULT_MAX_OUTPUT_TOKENS: number = 4096;
/** Budgets lower the output of a call down to this, not further. */
const LEAST_OUTPUT_TOKENS = 1024;

export interface Reserved {
  readonly amount?: Usd;
  readonly maxTokens?: number;
}

/** Reserves the worst case of a call on every budget above it. Lowers its output where others' reservations stand in the way, then waits; spent money refuses. */
export async function reserveInference(
  loop: Loop,
  key: string,
  model: Model,
  request: InferRequest,
  inputBound: number,
): Promise<Reserved> {
  const { ledger, scopes, execution } = loop;
  if (scopes.length === 0) return request.maxTokens === undefined ? {} : { maxTokens: request.maxTokens };
  if (model.price === null)
    throw new AgentError({
      kind: "invalid-option",
      option: "limits.maxCost",
      message: `The price of ${model.reference} is unknown, so a money limit can't hold. Add it to the registry's \`prices\`, or drop limits.maxCost.`,
    });
  let maxTokens = request.maxTokens ?? DEFAULT_MAX_OUTPUT_TOKENS;
  for (;;) {
    const amount = worstCase(inputBound, maxTokens, model.price);
    const reservation = await ledger.reserve(`${execution.runId}/${key}`, scopes, amount);
    if (reservation.type === "reserved") return { amount, maxTokens };
    const least = Math.min(LEAST_OUTPUT_TOKENS, maxTokens);
    const left = reservation.type === "wait" ? reservation.available : subtractUsd(reservation.limit, reservation.spent);
    const fitting = largestOutput(inputBound, least, maxTokens, model, left);
    if (fitting !== undefined && fitting < maxTokens) maxTokens = fitting;
    else if (reservation.type === "refused") {
      execution.put(`${key}/budget`, { type: "budget", limit: "cost", used: reservation.spent, max: reservation.limit });
      throw new RunEnding("budget-exhausted");
    } else
      await ledger.changed(
        scopes.map((scope) => scope.id),
        { signal: execution.signal },
      );
    checkEnding(loop);
  }
}

/** The largest output between these bounds whose worst case fits into `left`. */
function largestOutput(inputBound: number, least: number, most: number, model: Model, left: Usd): number | undefined {
  const fits = (tokens: number): boolean => model.price !== null && compareUsd(worstCase(inputBound, tokens, model.price), left) <= 0;
  if (!fits(least)) return undefined;
  let low = least;
  let high = most;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (fits(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}

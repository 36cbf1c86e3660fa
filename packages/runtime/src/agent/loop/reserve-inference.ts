import {
  addUsd,
  AgentError,
  compareUsd,
  LogError,
  subtractUsd,
  ZERO_USD,
  type BudgetAmount,
  type InferRequest,
  type Reservation,
  type Usd,
} from "@keelson/protocol";
import { worstCase } from "../../providers/prices.ts";
import { countedAmount, type BudgetMeter } from "../features/budget/budget-meter.ts";
import { refusedByBudget } from "../features/budget/mark-budgets.ts";
import { DEFAULT_MAX_OUTPUT_TOKENS } from "../features/budget/unseen-inference.ts";
import type { Model } from "../definition/model-source.ts";
import type { Loop } from "../turn/loop.ts";
import { checkEnding, stoppedEnding } from "../turn/run-ending.ts";
import { meterOf } from "../features/budget/budget-meter.ts";
import { ledgerOf, type RunLedger } from "../features/budget/run-ledger.ts";
import { askForBudget } from "./ask-for-budget.ts";

/** Budgets lower the output of a call down to this, not further. */
const LEAST_OUTPUT_TOKENS = 1024;

/** What a call may come to. Only where money or tokens are limited is its output bounded. */
export interface Reserved {
  readonly amount?: Usd;
  /** What the vendor is told. */
  readonly maxTokens?: number | undefined;
  /** What he may bill of output. */
  readonly outputTokens?: number;
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
  const { execution } = loop;
  const meter = meterOf(loop);
  if (meter === undefined || ledgerOf(loop).scopes.length === 0) return { maxTokens: request.maxTokens };
  if (model.price === null) checkUnknownPrice(meter, model);
  const isLowered = meter.counts.cost || meter.counts.tokens;
  try {
    const call: BoundedCall = { model, inputBound, outputOf: outputOf(model, request) };
    return await reserveAtMost(loop, meter, key, call, request.maxTokens ?? (isLowered ? DEFAULT_MAX_OUTPUT_TOKENS : undefined));
  } catch (error) {
    // Nothing was sent: neither a place in the line nor a reservation of an earlier life may stay behind.
    await ledgerOf(loop).ledger.release(`${execution.runId}/${key}`);
    throw error;
  }
}

/** A call whose worst case is known. */
interface BoundedCall {
  readonly model: Model;
  readonly inputBound: number;
  /** What the vendor may bill of output when he is told this limit. */
  outputOf(maxTokens: number): number;
}

/** More than any model writes, where nothing is known of it. */
const UNKNOWN_OUTPUT_TOKENS = 2_000_000;

/** Where no limit that is sent bounds what is billed, it is all that the model can write. */
function outputOf({ provider, facts }: Model, request: InferRequest): BoundedCall["outputOf"] {
  return (maxTokens) => {
    const bound = provider.outputBound === undefined ? maxTokens : provider.outputBound({ ...request, maxTokens });
    return bound ?? facts.maxOutputTokens ?? facts.contextWindow ?? UNKNOWN_OUTPUT_TOKENS;
  };
}

async function reserveAtMost(
  loop: Loop,
  meter: BudgetMeter,
  key: string,
  call: BoundedCall,
  mostTokens: number | undefined,
): Promise<Reserved> {
  const { execution } = loop;
  const { model, inputBound } = call;
  const { price } = model;
  const reservation = `${execution.runId}/${key}`;
  let most = mostTokens;
  let maxTokens = most;
  let inTurn = false;
  for (;;) {
    const outputTokens = call.outputOf(maxTokens ?? DEFAULT_MAX_OUTPUT_TOKENS);
    const cost = price === null ? ZERO_USD : worstCase(inputBound, outputTokens, price);
    const wanted = countedAmount(meter, { cost, tokens: inputBound + outputTokens, turns: 0, toolCalls: 0, modelCalls: 1 });
    const reserved = await reserveAnew(ledgerOf(loop), reservation, wanted, inTurn);
    if (reserved.type === "reserved")
      return {
        ...(meter.counts.cost && price !== null && { amount: cost }),
        ...(maxTokens !== undefined && { maxTokens }),
        ...((meter.counts.cost || meter.counts.tokens) && { outputTokens }),
      };
    const fitting = maxTokens === undefined ? undefined : largestOutput(reserved, call, maxTokens);
    if (fitting !== undefined && fitting < (maxTokens as number)) {
      maxTokens = fitting;
      // What is spent stays spent: there is no use in asking for more again.
      if (reserved.type === "refused") most = fitting;
      continue;
    }
    if (reserved.type === "refused") {
      if (reserved.unit === undefined || reserved.unit === "tokens") warnOfUnbounded(loop, call, outputTokens);
      if (!(await askForBudget(loop, key, { refusal: reserved, missing: missingFor(reserved, call, mostTokens) })))
        throw refusedByBudget(loop, key, reserved);
      most = maxTokens = mostTokens;
      continue;
    }
    if (!inTurn) {
      inTurn = true;
      continue;
    }
    loop.debug?.(`waits for the budget "${reserved.scope}": ${reserved.available} ${reserved.unit ?? "dollars"} available`);
    await turnComes(loop, meter, reservation);
    maxTokens = most;
  }
}

/** Returns the amount that a refused call lacks, with the whole output that it asks for. */
function missingFor(
  { unit, limit, spent }: Extract<Reservation, { readonly type: "refused" }>,
  { model: { price }, inputBound, outputOf }: BoundedCall,
  mostTokens: number | undefined,
): Usd | number {
  const outputTokens = outputOf(mostTokens ?? DEFAULT_MAX_OUTPUT_TOKENS);
  if (unit !== undefined) return spent + inputBound + outputTokens - limit;
  return subtractUsd(addUsd(spent, price === null ? ZERO_USD : worstCase(inputBound, outputTokens, price)), limit);
}

/** Whoever sees a call refused that would have been small is told why it counts as a large one. */
function warnOfUnbounded({ execution }: Loop, { model, outputOf }: BoundedCall, outputTokens: number): void {
  if (outputOf(1) !== outputTokens) return;
  execution.emit({
    type: "status",
    status: `Nothing that ${model.provider.name} is sent bounds what ${model.id} writes and thinks, so that all it can write is reserved: ${outputTokens} tokens. Where it can write less, say so as \`maxOutputTokens\` among the \`facts\` of the registry.`,
    level: "warn",
  });
}

/** A reservation that an earlier life made and did not come to use says nothing any more: this one may be another. */
async function reserveAnew(
  { ledger, owner, scopes }: RunLedger,
  key: string,
  amount: Usd | BudgetAmount,
  inTurn: boolean,
): Promise<Reservation> {
  try {
    return await ledger.reserve(key, scopes, amount, { owner, inTurn });
  } catch (error) {
    if (!LogError.is(error, "invalid-input")) throw error;
    await ledger.release(key);
    return ledger.reserve(key, scopes, amount, { owner, inTurn });
  }
}

/** Waits until it is this call's turn to try again; the end of the run ends the wait. */
async function turnComes(loop: Loop, { scopeIds }: BudgetMeter, key: string): Promise<void> {
  const { signal, stopping } = loop.execution;
  const over = new AbortController();
  const end = (): void => over.abort("over");
  const endings = [signal, stopping, loop.attempts.run];
  for (const ending of endings) {
    ending.addEventListener("abort", end, { once: true });
    if (ending.aborted) end();
  }
  try {
    await ledgerOf(loop).ledger.changed(scopeIds, { signal: over.signal, key });
  } finally {
    for (const ending of endings) ending.removeEventListener("abort", end);
  }
  checkEnding(loop);
  if (stopping.aborted) throw stoppedEnding(loop);
}

/** @throws AgentError of kind `invalid-option` where a limit of money can't hold, and nobody said that it need not */
function checkUnknownPrice({ scopes, ownScope }: BudgetMeter, model: Model): void {
  for (const { id, maxCost, unknownPrice } of scopes) {
    if (maxCost === undefined || unknownPrice === "allow") continue;
    const isOwn = id === ownScope;
    throw new AgentError({
      kind: "invalid-option",
      option: isOwn ? "limits.maxCost" : "budgets",
      message: `The price of ${model.reference} is unknown, so ${isOwn ? "the money limit" : `the budget "${id}"`} can't hold. Add it to the registry's \`prices\`, drop the limit, or set ${isOwn ? "limits.unknownPrice" : "`unknownPrice` of that budget"} to "allow": what has no price then counts nothing.`,
    });
  }
}

/** The largest limit of the output, lower than `most`, whose worst case fits into what the reservation says is left. */
function largestOutput(
  reserved: Exclude<Reservation, { type: "reserved" }>,
  { model: { price }, inputBound, outputOf }: BoundedCall,
  most: number,
): number | undefined {
  const least = Math.min(LEAST_OUTPUT_TOKENS, most);
  let fits: (tokens: number) => boolean;
  if (reserved.unit === "tokens") {
    const left = (reserved.type === "wait" ? reserved.available : reserved.limit - reserved.spent) - inputBound;
    fits = (tokens) => outputOf(tokens) <= left;
  } else if (reserved.unit === undefined && price !== null) {
    const left = reserved.type === "wait" ? reserved.available : subtractUsd(reserved.limit, reserved.spent);
    fits = (tokens) => compareUsd(worstCase(inputBound, outputOf(tokens), price), left) <= 0;
  } else return undefined;
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

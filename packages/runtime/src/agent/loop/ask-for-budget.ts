import {
  addUsd,
  compareUsd,
  fromPicoUsd,
  toPicoUsd,
  type AskedBudget,
  type CallId,
  type Decision,
  type JsonValue,
  type Reservation,
  type Usd,
} from "@keelson/protocol";
import { shortHash } from "../../json/digest.ts";
import { approvalsOf } from "../features/approvals/run-approvals.ts";
import { readRaise, type BudgetRaise } from "../features/approvals/budget-answer.ts";
import { bindBudgets } from "../features/budget/bind-budgets.ts";
import { meterOf } from "../features/budget/budget-meter.ts";
import { refusedByBudget } from "../features/budget/mark-budgets.ts";
import { ledgerOf } from "../features/budget/run-ledger.ts";
import { askPeople, endIfAborted } from "../features/questions/ask-people.ts";
import type { Question } from "../features/questions/publish-question.ts";
import { runOf, type Loop } from "../turn/loop.ts";
import { RunEnding } from "../turn/run-ending.ts";

/** A limit of money or tokens that has no room for what comes next. */
export interface MetLimit {
  readonly refusal: Extract<Reservation, { readonly type: "refused" }>;
  /** The least that must be added so that there is room, as far as it is known. */
  readonly missing: Usd | number;
}

const TOOL: Question["tool"] = {
  name: "budget",
  description: "Adds an amount to the limit of this run.",
  risk: "medium",
  version: "1",
};

/**
 * Asks a person for more if the run's own limit is met and its `limits.onBudget` is `ask`, and raises that limit. Suspends the run without
 * an answer in this process. The question and the raised limit are records: after a crash no question is asked twice and no amount is added twice.
 * @param key the place in the run that has no room
 * @returns false if no person is to be asked: the limit ends the run
 */
export async function askForBudget(loop: Loop, key: string, { refusal, missing }: MetLimit): Promise<boolean> {
  const budget = askedBudget(loop, refusal);
  if (budget === undefined) return false;
  const { limit } = budget;
  // Another limit is another question; the same one is found again, also if the sums that it names have changed since.
  const callId = `${loop.callPrefix}_b_${shortHash(`${key}/${String(limit)}`, 12)}` as CallId;
  const input = askedBefore(loop, callId) ?? proposal(loop, budget, missing);
  const place = `${key}/budget/${String(limit)}`;
  const question: Question = { type: "approval", callId, key: place, round: 1, tool: TOOL, input, budget, ...words(budget, input) };
  const [decision] = (await askPeople(loop, [question])) as [Decision];
  endIfAborted(decision);
  const raise = raiseOf(budget, decision, input);
  if (raise === undefined) {
    const ending = refusedByBudget(loop, key, refusal);
    const reason = decision.type === "deny" ? decision.reason : undefined;
    throw reason === undefined ? ending : new RunEnding(ending.reason, { ...ending.details, why: reason });
  }
  raiseLimit(loop, `${place}/raised`, refusal.scope, budget, raise);
  return true;
}

/** The question about a limit, or `undefined` if its run asks no person or the limit is not its own to raise. */
function askedBudget(loop: Loop, { scope, ...refusal }: MetLimit["refusal"]): AskedBudget | undefined {
  if (loop.limits.onBudget !== "ask" || loop.isBeside === true || scope !== meterOf(loop)?.ownScope || approvalsOf(loop).asksNobody)
    return undefined;
  const { unit = "cost", limit, spent } = refusal;
  if (unit !== "cost" && unit !== "tokens") return undefined;
  // A limit of the authority belongs to the caller that started the run.
  const { maxCost } = loop.authority;
  if (unit === "cost" && maxCost !== undefined && compareUsd(limit as Usd, maxCost) >= 0) return undefined;
  return { unit, limit, used: spent };
}

function askedBefore(loop: Loop, callId: CallId): JsonValue | undefined {
  for (const question of runOf(loop).questions.values()) if (question.callId === callId) return question.input;
  return undefined;
}

/** Proposes as much as the run was given at first, and at least what its next call may need. */
function proposal(loop: Loop, { unit }: AskedBudget, missing: Usd | number): JsonValue {
  const { maxCost = "0" as Usd, maxTokens = 0 } = loop.limits;
  if (unit === "tokens") return { tokens: Math.max(1, maxTokens, missing as number) };
  const least = roundedUp(missing as Usd);
  return { usd: compareUsd(maxCost, least) > 0 ? maxCost : least };
}

const CENT: bigint = toPicoUsd("0.01");

/** Whole cents, because people read the amount. */
function roundedUp(amount: Usd): Usd {
  const pico = toPicoUsd(amount);
  return fromPicoUsd(pico <= 0n ? CENT : ((pico + CENT - 1n) / CENT) * CENT);
}

function words({ unit, limit, used }: AskedBudget, input: JsonValue): Pick<Question, "reason" | "summary"> {
  const shown = (amount: unknown): string => (unit === "cost" ? `$${String(amount)}` : `${String(amount)} tokens`);
  const [added] = Object.values(input as Readonly<Record<string, JsonValue>>);
  const name = unit === "cost" ? "maxCost" : "maxTokens";
  return {
    summary: `The run has used ${shown(used)} of its limit of ${shown(limit)}, and the rest does not cover what comes next. Allow ${shown(added)} more?`,
    reason: `limits.${name} is ${shown(limit)}, ${shown(used)} is used, and limits.onBudget is "ask"`,
  };
}

function raiseOf(budget: AskedBudget, decision: Decision, input: JsonValue): BudgetRaise | undefined {
  if (decision.type !== "allow" && decision.type !== "allow-modified") return undefined;
  const raise = readRaise(budget, decision.type === "allow" ? input : decision.input);
  // Answers are checked before they are taken. One that was written past that check raises nothing.
  return typeof raise === "string" ? undefined : raise;
}

function raiseLimit(loop: Loop, key: string, scope: string, { limit }: AskedBudget, raise: BudgetRaise): void {
  const { execution } = loop;
  if (!execution.has(key)) {
    const raised =
      "usd" in raise
        ? { maxCost: atMost(addUsd(limit as Usd, raise.usd), loop.authority.maxCost) }
        : { maxTokens: Math.min(Number.MAX_SAFE_INTEGER, (limit as number) + raise.tokens) };
    execution.put(key, "limit-raised", { scope, ...raised }, "power");
  }
  const { ledger, owner } = ledgerOf(loop);
  bindBudgets(loop, { ledger, owner });
}

function atMost(amount: Usd, most: Usd | undefined): Usd {
  return most !== undefined && compareUsd(amount, most) > 0 ? most : amount;
}

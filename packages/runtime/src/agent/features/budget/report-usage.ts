import { compareUsd, subtractUsd, ZERO_USD, type BudgetAmount, type BudgetScope, type RunId, type Usd } from "@keelson/protocol";
import { shortHash } from "../../../json/digest.ts";
import type { RunState } from "../../../session/session-state.ts";
import type { ModelSource } from "../../definition/model-source.ts";
import { countedAmount, countedBy, type BudgetMeter } from "./budget-meter.ts";
import { runScopeId } from "../../definition/budget/budget-scopes.ts";
import { countsOf } from "../../turn/run-counts.ts";
import { countKey, spendOnLedger, type Spending } from "./spend-on-ledger.ts";
import { isRecordOf } from "../../../session/record-data.ts";
import { inferenceAmount, spendUnseen, unseenUsage } from "./unseen-inference.ts";

export interface ReportOptions extends Spending {
  /** All that the run counts against. */
  readonly scopes: readonly BudgetScope[];
  /** Finds the models that the run called. */
  readonly models: ModelSource;
}

/**
 * Tells a ledger what a run used before, as its log has it: for all of its budgets, and no limit stands in the way. Whoever tells it
 * again, of the same run or of the run as it went on, adds what the ledger does not know yet.
 */
export async function reportUsage(run: RunState, options: ReportOptions): Promise<void> {
  const { ledger, scopes } = options;
  const meter = { counts: countedBy(scopes) };
  const begun = await reportBegun(run, options, meter);
  const { usage, cost } = run.totals;
  const tokens = (usage.inputTokens ?? 0) + (usage.outputTokens ?? 0);
  const { turns, toolCalls, modelCalls } = countsOf(run);
  const used = { cost, tokens, turns, toolCalls, modelCalls: modelCalls - begun };
  const told = reportedScope(run.id);
  const known = await ledger.used(told);
  const left = countedAmount(meter, difference(used, known));
  if (isNothing(left)) return;
  // The same amount on top of the same is the same telling, whoever crashes in between.
  const key = `${run.id}/restored/${shortHash(JSON.stringify([known, left, scopes.map(({ id }) => id)]))}`;
  await spendOnLedger({ ...options, scopes: [...scopes, { id: told }] }, key, left);
}

/** What a ledger was told of a run stands there under a name of its own: so the ledger itself says how much of it it knows. */
export function reportedScope(id: RunId): string {
  return `${runScopeId(id)}/told`;
}

/**
 * What the run was about to do, and nobody saw the end of, is spent. The run settles each under the same key when it goes on.
 * @returns how many model calls are among it
 */
async function reportBegun({ open }: RunState, options: ReportOptions, meter: Pick<BudgetMeter, "counts">): Promise<number> {
  let inferences = 0;
  for (const record of open.values()) {
    const { key } = record;
    if (isRecordOf(record, "inference") && !open.has(`${key}/usage`)) {
      inferences++;
      const { usage, cost } = unseenUsage(record.data, options.models);
      await spendUnseen(options, key, inferenceAmount(meter, usage, cost));
    } else if (record.type === "tool-reserved" && meter.counts.toolCalls) {
      const call = key.slice(0, key.lastIndexOf("/reserved/"));
      if (!open.has(`${call}/result`)) await spendOnLedger(options, countKey(call), { toolCalls: 1 });
    }
  }
  return inferences;
}

function difference(used: Required<BudgetAmount>, known: Required<BudgetAmount>): Required<BudgetAmount> {
  return {
    cost: compareUsd(used.cost, known.cost) > 0 ? subtractUsd(used.cost, known.cost) : ZERO_USD,
    tokens: Math.max(0, used.tokens - known.tokens),
    turns: Math.max(0, used.turns - known.turns),
    toolCalls: Math.max(0, used.toolCalls - known.toolCalls),
    modelCalls: Math.max(0, used.modelCalls - known.modelCalls),
  };
}

function isNothing(amount: Usd | BudgetAmount): boolean {
  if (typeof amount === "string") return compareUsd(amount, ZERO_USD) === 0;
  const { cost = ZERO_USD, tokens = 0, turns = 0, toolCalls = 0, modelCalls = 0 } = amount;
  return compareUsd(cost, ZERO_USD) === 0 && tokens + turns + toolCalls + modelCalls === 0;
}

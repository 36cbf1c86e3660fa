import type { BudgetScope } from "@keelson/protocol";
import type { RunState } from "../../../session/session-state.ts";
import type { Agent } from "../../definition/agent.ts";
import { relatedRuns } from "./related-runs.ts";
import { modelsOf } from "../../definition/model-source.ts";
import { runOf, sessionOf, type Loop } from "../../turn/loop.ts";
import type { RunnerServices } from "../../turn/runner-services.ts";
import { reportUsage, reportedScope } from "./report-usage.ts";
import { meterOf } from "./budget-meter.ts";
import { ledgerOf } from "./run-ledger.ts";

export interface RestoreOptions {
  readonly services: RunnerServices;
  /** The agent of this name, where the runner has it. */
  find(name: string): Agent<unknown> | undefined;
  /** What a run counts against, also where the runner does not have its agent. */
  budgetsOf(run: RunState, agent: Agent<unknown> | undefined): readonly BudgetScope[];
  /** Its parent is at work here, and goes on with it. */
  readonly asChild: boolean;
}

/**
 * Tells a ledger that has forgotten this run (one in memory dies with its process) what it used before, and, before it may spend
 * again, what all those used that share its budgets: whoever started it, and every run below that that is open. They are not at
 * work on this ledger yet; each of them tells the same when it is resumed, which then counts nothing twice.
 */
export async function restoreBudgets(loop: Loop, { services, find, budgetsOf, asChild }: RestoreOptions): Promise<void> {
  const { execution, models } = loop;
  const { ledger, scopes, owner } = ledgerOf(loop);
  const meter = meterOf(loop);
  const run = runOf(loop);
  if (meter === undefined || scopes.length === 0 || run.ledger === ledger.id) return;
  await reportUsage(run, { ledger, owner, scopes, models });
  // What it shares with its parent, the parent has: it told of all of them before it went on.
  const isTold = asChild && scopes.some(({ id }) => id !== meter.ownScope);
  if (!isTold) {
    const warn = (status: string): void => execution.emit({ type: "status", status, level: "warn" });
    for await (const relative of relatedRuns(sessionOf(loop), { services, above: !asChild, warn })) {
      if (relative.ledger === ledger.id) continue;
      const agent = find(relative.agent);
      const budgets = budgetsOf(relative, agent);
      if (budgets.length > 0) await reportUsage(relative, { ledger, owner, scopes: budgets, models: modelsOf(agent, services.models) });
    }
  }
  await ledger.retire(reportedScope(run.id));
  // Nothing comes after the end of a run.
  if (run.status !== "ended") execution.put(`ledger/${run.resumes}`, "budget-ledger", { ledger: ledger.id });
}

import type { BudgetLedger, BudgetScope } from "@keelson/protocol";
import type { Loop } from "../../turn/loop.ts";
import { PartKey } from "../../turn/run-parts.ts";

/** Where a run counts what it uses, and against what. */
export interface RunLedger {
  readonly ledger: BudgetLedger;
  /** Its own budget, those of its ancestors, and what the program shares. */
  readonly scopes: readonly BudgetScope[];
  /** Names this process to ledgers. */
  readonly owner: string;
}

const LEDGER = new PartKey<RunLedger>("budget ledger");

export function ledgerOf({ parts }: Loop): RunLedger {
  return parts.need(LEDGER);
}

export function bindLedger({ parts }: Loop, ledger: RunLedger): void {
  parts.set(LEDGER, ledger);
}

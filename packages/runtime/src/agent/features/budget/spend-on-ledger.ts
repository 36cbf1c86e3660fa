import type { BudgetAmount, BudgetLedger, BudgetScope, Usd } from "@keelson/protocol";

/** Where something is spent, and by whom. */
export interface Spending {
  readonly ledger: BudgetLedger;
  readonly scopes: readonly Pick<BudgetScope, "id">[];
  /** Names this process to the ledger. */
  readonly owner: string;
}

/** Counts what is spent already, once under this key: no limit stands in its way. */
export async function spendOnLedger({ ledger, scopes, owner }: Spending, key: string, amount: Usd | BudgetAmount): Promise<void> {
  await ledger.reserve(
    key,
    scopes.map(({ id }) => ({ id })),
    amount,
    { owner },
  );
  await ledger.settle(key, amount);
}

/** The key under which a ledger counts a turn or a call of a tool, by where that stands in the log. */
export function countKey(place: string): string {
  return `${place}/counted`;
}

import { splitEvenly } from "./split.js";

/**
 * What each person is owed (positive) or owes (negative), in cents. The balances add up to zero.
 * @param {import("./tab.js").Expense[]} expenses
 * @returns {Map<string, number>}
 */
export function balancesOf(expenses) {
  const balances = new Map();
  const add = (person, cents) => balances.set(person, (balances.get(person) ?? 0) + cents);

  for (const { payer, cents, people } of expenses) {
    add(payer, cents);
    for (const [person, share] of splitEvenly(cents, people)) add(person, -share);
  }
  return balances;
}

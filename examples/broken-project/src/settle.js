/**
 * @typedef {{ from: string, to: string, cents: number }} Payment
 */

/**
 * Payments that bring every balance to zero: the largest debt goes to the largest credit first.
 * @param {Map<string, number>} balances
 * @returns {Payment[]}
 */
export function settle(balances) {
  const open = [...balances].map(([person, cents]) => ({ person, cents }));
  const payments = [];

  for (;;) {
    const creditor = largest(open, (entry) => entry.cents);
    const debtor = largest(open, (entry) => -entry.cents);
    if (creditor === undefined || debtor === undefined) return payments;
    const cents = Math.min(creditor.cents, -debtor.cents);
    creditor.cents -= cents;
    debtor.cents += cents;
    payments.push({ from: debtor.person, to: creditor.person, cents });
  }
}

/** The entry with the largest positive measure; the first of equals. */
function largest(entries, measure) {
  let best;
  for (const entry of entries) {
    if (measure(entry) > 0 && (best === undefined || measure(entry) > measure(best))) best = entry;
  }
  return best;
}

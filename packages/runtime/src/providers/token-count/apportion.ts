/**
 * Whole numbers in proportion to these amounts, which add up to exactly `total`. What is left over by rounding goes to those
 * that lost most by it.
 */
export function apportion(amounts: readonly number[], total: number): readonly number[] {
  const sum = amounts.reduce((a, b) => a + b, 0);
  if (sum <= 0) return amounts.map((_, at) => (at === 0 ? total : 0));
  const exact = amounts.map((amount) => (amount / sum) * total);
  const shares = exact.map(Math.floor);
  const byLoss = exact.map((amount, at) => ({ at, loss: amount - (shares[at] as number) })).toSorted((a, b) => b.loss - a.loss);
  let left = total - shares.reduce((a, b) => a + b, 0);
  for (const { at } of byLoss) {
    if (left <= 0) break;
    shares[at] = (shares[at] as number) + 1;
    left -= 1;
  }
  return shares;
}

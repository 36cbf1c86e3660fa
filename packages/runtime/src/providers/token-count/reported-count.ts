/** More than any request or response holds: ten times the largest context window of a model. */
const MAX_COUNT = 100_000_000;

/**
 * Reads a count of tokens as a vendor reports it, as a number or as digits. `null` (unknown) if it is none that can be true: negative,
 * broken, not finite, or larger than any request.
 */
export function reportedCount(value: unknown): number | null {
  const count = typeof value === "string" && /^\d{1,9}$/.test(value) ? Number(value) : value;
  if (typeof count !== "number" || !Number.isInteger(count) || count < 0 || count > MAX_COUNT) return null;
  return count === 0 ? 0 : count;
}

/** The largest of several members in which vendors report the same count; `null` if none holds one. */
export function largestCount(...values: readonly unknown[]): number | null {
  let largest: number | null = null;
  for (const value of values) {
    const count = reportedCount(value);
    if (count !== null && (largest === null || count > largest)) largest = count;
  }
  return largest;
}

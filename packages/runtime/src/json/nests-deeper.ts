/** Whether a JSON value has more than `limit` levels of lists and objects. */
export function nestsDeeper(value: unknown, limit: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (limit === 0) return true;
  // An own loop each: `Object.values` would copy every list.
  if (Array.isArray(value)) return value.some((item) => nestsDeeper(item, limit - 1));
  for (const key in value) if (nestsDeeper((value as Record<string, unknown>)[key], limit - 1)) return true;
  return false;
}

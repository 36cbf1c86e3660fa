/** Whether a JSON value has more than `limit` levels of lists and objects. */
export function nestsDeeper(value: unknown, limit: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (limit === 0) return true;
  return Object.values(value).some((member) => nestsDeeper(member, limit - 1));
}

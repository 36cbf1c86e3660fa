/** What a threshold that was told is remembered by: once for each limit and run. */
export function budgetMark({
  scope = "",
  limit,
  threshold,
}: {
  readonly scope?: string;
  readonly limit: string;
  readonly threshold: number;
}): string {
  return `${limit}/${threshold}/${scope}`;
}

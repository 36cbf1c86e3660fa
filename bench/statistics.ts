export function median(values: readonly number[]): number {
  const sorted = values.filter((value) => Number.isFinite(value)).sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  if (sorted.length === 0) return Number.NaN;
  return sorted.length % 2 === 1 ? (sorted[middle] as number) : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2;
}

export interface Range {
  readonly median: number;
  readonly low: number;
  readonly high: number;
}

export function rangeOf(values: readonly number[]): Range {
  const finite = values.filter((value) => Number.isFinite(value));
  return { median: median(finite), low: Math.min(...finite), high: Math.max(...finite) };
}

import type { Standing } from "../kit/budget-amounts.ts";

export interface ScopeRow extends Standing {
  readonly id: number;
  readonly name: string;
  readonly spent: bigint[];
  readonly reserved: bigint[];
  open: number;
  changes: number;
}

export interface ReservationRow {
  readonly key: string;
  readonly owner: string;
  readonly at: number;
  readonly amounts: string;
  readonly scopes: string;
  readonly presumed: number;
}

/** A place in the line. Tickets order all lines alike, so that no two wait for each other. */
export interface PlaceRow {
  readonly ticket: number;
  readonly key: string;
  readonly owner: string;
  readonly at: number;
  readonly lines: readonly string[];
  readonly seen: number;
}

export function idsIn(text: string): readonly number[] {
  return text === "" ? [] : text.split(",").map(Number);
}

export function scopeIdsOf(lines: readonly string[]): ReadonlySet<number> {
  return new Set(lines.map((one) => Number(one.slice(0, one.indexOf(":")))));
}

/** Grows whenever something ended that those in these lines may have waited for. */
export function changesOf(lines: readonly string[], scopeAt: (id: number) => ScopeRow | undefined): number {
  let sum = 0;
  for (const id of scopeIdsOf(lines)) sum += scopeAt(id)?.changes ?? 0;
  return sum;
}

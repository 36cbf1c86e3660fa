import type { Amounts, Standing } from "./budget-amounts.ts";

/** What counts against one scope. Rows are never changed in place: who changes one keeps another. */
export interface ScopeRow extends Standing {
  readonly name: string;
  /** Open reservations that count against it. */
  readonly open: number;
  /** How often something ended that others may have waited for. */
  readonly changes: number;
}

/** Money and counts that are held until they are settled or released. */
export interface ReservationRow {
  readonly key: string;
  /** Absent where nobody said who it is: then only its age tells that it was left. */
  readonly owner: string | undefined;
  /** Unix ms. */
  readonly at: number;
  readonly amounts: Amounts;
  readonly scopes: readonly string[];
  /** Its owner is gone, and it counts as spent. */
  readonly isPresumed: boolean;
}

/** A place in the queue. It stands in the line of every scope and unit in which its key ever fell short. */
export interface PlaceRow {
  readonly key: string;
  readonly owner: string | undefined;
  /** Unix ms. */
  readonly at: number;
  readonly lines: readonly Line[];
  /** Sum of the changes of its scopes when it was last tried. */
  readonly seen: number;
}

/** The queue for one unit of one scope, as {@link lineOf} names it. */
export type Line = `${number}:${string}`;

export function lineOf(scope: string, unit: number): Line {
  return `${unit}:${scope}`;
}

export function scopeOfLine(line: Line): string {
  return line.slice(line.indexOf(":") + 1);
}

export function unitOfLine(line: Line): number {
  return Number.parseInt(line, 10);
}

/** What a ledger keeps, as a backend has it before it for one call: what is read here is of one moment. */
export interface BudgetRows {
  scope(name: string): ScopeRow | undefined;
  keepScope(row: ScopeRow): void;
  reservation(key: string): ReservationRow | undefined;
  /** Those that are not presumed spent. */
  openReservations(): readonly ReservationRow[];
  keepReservation(row: ReservationRow): void;
  dropReservation(key: string): void;
  /** What the reservation was settled for. A backend may forget all but the last {@link REMEMBERED_SETTLEMENTS}. */
  settlement(key: string): Amounts | undefined;
  keepSettlement(key: string, amounts: Amounts): void;
  place(key: string): PlaceRow | undefined;
  /** All places, the first comer first: one order for all lines, so that no two wait for each other. */
  places(): readonly PlaceRow[];
  /** A new one goes behind all others; one that is there stays where it is. */
  keepPlace(row: PlaceRow): void;
  dropPlace(key: string): void;
  /**
   * Nothing will count against this scope any more. A backend may forget it once {@link REMEMBERED_RETIRED} others were retired
   * after it, where nothing is open in it and nobody waits for it.
   */
  retire(name: string): void;
}

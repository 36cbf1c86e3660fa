import type { Amounts } from "./budget-amounts.ts";
import type { BudgetRows, PlaceRow, ReservationRow, ScopeRow } from "./budget-rows.ts";

/** What a backend has read for one call. `places` are in the order in which they came. */
export interface BudgetReading {
  readonly scopes: Iterable<ScopeRow>;
  readonly reservations: Iterable<ReservationRow>;
  readonly settlements: Iterable<readonly [key: string, amounts: Amounts]>;
  readonly places: Iterable<PlaceRow>;
}

/** The names and keys of rows. */
export interface BudgetChanges {
  readonly scopes: Set<string>;
  readonly reservations: Set<string>;
  readonly settlements: Set<string>;
  readonly places: Set<string>;
  readonly retired: Set<string>;
}

/**
 * The rows of one call, for a backend that has to wait for them: it reads them, has the call work on the sheet, and writes what
 * `changed` names. A row that is named there and no longer in the sheet was dropped.
 */
export class BudgetSheet implements BudgetRows {
  readonly #scopes: Map<string, ScopeRow>;
  readonly #reservations: Map<string, ReservationRow>;
  readonly #settlements: Map<string, Amounts>;
  readonly #places: Map<string, PlaceRow>;
  /** A new place goes behind all others. */
  readonly changed: BudgetChanges = {
    scopes: new Set(),
    reservations: new Set(),
    settlements: new Set(),
    places: new Set(),
    retired: new Set(),
  };

  constructor({ scopes, reservations, settlements, places }: BudgetReading) {
    this.#scopes = new Map(Array.from(scopes, (row) => [row.name, row]));
    this.#reservations = new Map(Array.from(reservations, (row) => [row.key, row]));
    this.#settlements = new Map(settlements);
    this.#places = new Map(Array.from(places, (row) => [row.key, row]));
  }

  scope(name: string): ScopeRow | undefined {
    return this.#scopes.get(name);
  }
  keepScope(row: ScopeRow): void {
    this.#scopes.set(row.name, row);
    this.changed.scopes.add(row.name);
  }
  reservation(key: string): ReservationRow | undefined {
    return this.#reservations.get(key);
  }
  openReservations(): readonly ReservationRow[] {
    return [...this.#reservations.values()].filter(({ isPresumed }) => !isPresumed);
  }
  keepReservation(row: ReservationRow): void {
    this.#reservations.set(row.key, row);
    this.changed.reservations.add(row.key);
  }
  dropReservation(key: string): void {
    if (this.#reservations.delete(key)) this.changed.reservations.add(key);
  }
  settlement(key: string): Amounts | undefined {
    return this.#settlements.get(key);
  }
  keepSettlement(key: string, amounts: Amounts): void {
    this.#settlements.set(key, amounts);
    this.changed.settlements.add(key);
  }
  place(key: string): PlaceRow | undefined {
    return this.#places.get(key);
  }
  places(): readonly PlaceRow[] {
    return [...this.#places.values()];
  }
  keepPlace(row: PlaceRow): void {
    this.#places.set(row.key, row);
    this.changed.places.add(row.key);
  }
  dropPlace(key: string): void {
    if (this.#places.delete(key)) this.changed.places.add(key);
  }
  retire(name: string): void {
    if (this.#scopes.has(name)) this.changed.retired.add(name);
  }
}

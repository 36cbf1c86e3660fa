import type { Usd } from "./usd.ts";

/** A limit that a reservation counts against: a run, its ancestors, a user, a day. */
export interface BudgetScope {
  readonly id: string;
  readonly maxCost: Usd;
}

/**
 * `reserved`: go on. `wait`: only open reservations of others stand in the way; try again after one settles.
 * `refused`: spent money leaves too little.
 */
export type Reservation =
  | { readonly type: "reserved" }
  | { readonly type: "wait"; readonly scope: string; readonly available: Usd }
  | { readonly type: "refused"; readonly scope: string; readonly limit: Usd; readonly spent: Usd };

/**
 * Reservations and settlements of money. Each operation is atomic over all scopes and idempotent by `key`. What is settled
 * is spent; spent plus reserved never passes a scope's `maxCost`, unless a settlement itself cost more than was reserved.
 * Failures reject with `LogError`.
 */
export interface BudgetLedger {
  /**
   * Holds `amount` against every scope, or none. `refused` comes before `wait`; neither is remembered. A key that is open
   * or settled is `reserved` again without counting twice; one that was released may be reserved anew. The same key with
   * other scopes or another amount while it is open is `invalid-input`.
   */
  reserve(key: string, scopes: readonly BudgetScope[], amount: Usd): Promise<Reservation>;
  /** Turns the reservation into spent money. `not-found` without one; `invalid-input` when it was settled for another amount. */
  settle(key: string, actual: Usd): Promise<void>;
  /** Gives the reservation back. Without effect when there is none, or when it is settled. */
  release(key: string): Promise<void>;
  spent(scope: string): Promise<Usd>;
  /**
   * Resolves when a reservation in one of these scopes settles or is released, or when `signal` fires; at once when none
   * is open, so that what ended just before the call is not waited for.
   */
  changed(scopes: readonly string[], options: { readonly signal: AbortSignal }): Promise<void>;
}

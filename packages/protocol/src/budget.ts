import type { Usd } from "./usd.ts";

/** What a budget bounds, one ledger for all. Time is not among them: it is bounded by deadlines. */
export type BudgetUnit = "cost" | "tokens" | "turns" | "tool-calls" | "model-calls";

/**
 * So much of each unit; what is absent is none. Counts are whole numbers from zero. `tokens` are those of input and output
 * together, cached and reasoning tokens included.
 */
export type BudgetAmount = {
  readonly cost?: Usd;
  readonly tokens?: number;
  readonly turns?: number;
  readonly toolCalls?: number;
  readonly modelCalls?: number;
};

/** A limit that a reservation counts against: a run with its children, a user, a day. What has no maximum is counted only. */
export type BudgetScope = {
  readonly id: string;
  readonly maxCost?: Usd;
  readonly maxTokens?: number;
  readonly maxTurns?: number;
  readonly maxToolCalls?: number;
  readonly maxModelCalls?: number;
  /**
   * What becomes of a model without a known price under `maxCost`. `refuse` (the default): it is not called. `allow`: it is
   * called, and counts nothing. It is for the caller to act on; a ledger sees amounts only.
   */
  readonly unknownPrice?: "refuse" | "allow";
  /**
   * What a model call counts as under `maxCost` and `maxTokens` of which the vendor told no usage: it broke off, or its response names
   * none. `reserve` (the default): all that it could have come to, so that the limit holds. `estimate`: what was sent and seen of
   * it, so that what was thought unseen may pass the limit. It is for the caller to act on, as is `unknownPrice`.
   */
  readonly withoutUsage?: "reserve" | "estimate";
};

/**
 * `reserved`: go on. `wait`: only open reservations of others, or others whose turn comes first, stand in the way; try again
 * after one settles. `refused`: what is spent leaves too little. Without `unit` it is money.
 */
export type Reservation =
  | { readonly type: "reserved" }
  | ({ readonly type: "wait"; readonly scope: string } & (
      | { readonly unit?: undefined; readonly available: Usd }
      | { readonly unit: Exclude<BudgetUnit, "cost">; readonly available: number }
    ))
  | ({ readonly type: "refused"; readonly scope: string } & (
      | { readonly unit?: undefined; readonly limit: Usd; readonly spent: Usd }
      | { readonly unit: Exclude<BudgetUnit, "cost">; readonly limit: number; readonly spent: number }
    ));

export interface ReserveOptions {
  /** Who will settle it, named as the owner of a lease is. Default: this process. */
  readonly owner?: string | undefined;
  /**
   * Keeps a place in the queue where the reservation is `wait`: no later key overtakes this one in the scopes where it fell short.
   * It is left by reserving, by a refusal, by `release`, and by the end of its owner.
   */
  readonly inTurn?: boolean | undefined;
}

/**
 * Reservations and settlements, of money (a plain `Usd`) or of several units at once. Each operation is atomic over all
 * scopes and idempotent by `key`, as far back as the ledger remembers settlements. What is settled is spent; spent plus
 * reserved never passes a scope's maximum, unless a settlement itself came to more than was reserved. Failures reject with
 * `LogError`.
 *
 * A reservation whose owner is known to be dead, or that is older than any call should last, is presumed spent as a whole, so
 * that nobody waits for it for ever; `settle` replaces the presumption by the actual amount, `release` takes it back.
 */
export interface BudgetLedger {
  /** Names what this ledger remembers: another id has forgotten it, and whoever resumes a run tells it again what was spent. */
  readonly id: string;
  /**
   * Holds `amount` against every scope, or none. `refused` comes before `wait`; neither is remembered, but for a place in the
   * line. A key that is open or settled is `reserved` again without counting twice; one that was released may be reserved anew.
   * The same key with other scopes or another amount while it is open is `invalid-input`.
   */
  reserve(key: string, scopes: readonly BudgetScope[], amount: Usd | BudgetAmount, options?: ReserveOptions): Promise<Reservation>;
  /** Turns the reservation into what is spent. `not-found` without one; `invalid-input` when it was settled for another amount. */
  settle(key: string, actual: Usd | BudgetAmount): Promise<void>;
  /** Gives the reservation, or the place in the line, back. Without effect when there is none, or when it is settled. */
  release(key: string): Promise<void>;
  /** The money that was spent. */
  spent(scope: string): Promise<Usd>;
  /** All that was spent. */
  used(scope: string): Promise<Required<BudgetAmount>>;
  /** Nothing will count against this scope any more: the ledger may forget it after a while. */
  retire(scope: string): Promise<void>;
  /**
   * Resolves when a reservation in one of these scopes settles or is released, or when `signal` fires; at once when none
   * is open, so that what ended just before the call is not waited for. With the `key` of a place in the line: when it is that
   * key's turn to try again, and at once when that came since it was put there.
   */
  changed(scopes: readonly string[], options: { readonly signal: AbortSignal; readonly key?: string }): Promise<void>;
}

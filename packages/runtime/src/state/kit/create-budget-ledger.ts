import type { BudgetAmount, BudgetLedger, BudgetScope, Durability, Reservation, ReserveOptions, Usd } from "@keelson/protocol";
import { amountsOf, budgetAmountOf, limitsByScope, moneyIn, type Amounts } from "./budget-amounts.ts";
import { hasLeft, presumeLeft, release, reserve, settle, type IsLeft } from "./budget-book.ts";
import type { BudgetRows } from "./budget-rows.ts";
import { createBudgetWaiters } from "./budget-waiters.ts";
import type { Poll } from "./poll.ts";
import { checkMethodOptions } from "../../json/check-method-options.ts";
import { BUDGET_LEDGER_METHODS } from "../../json/interface-methods.ts";
import { checkOptionNames } from "../../json/option-names.ts";
import { BOUND_OPTION, FUNCTION_OPTION } from "../../json/option-rules.ts";

/**
 * The rows that a call is about: those of these keys and scopes, and of the scopes that the reservations of these keys count
 * against. All places with their scopes are needed whenever there are any. `everything`: all reservations and their scopes, too.
 */
export type BudgetNeeds = { readonly keys: readonly string[]; readonly scopes: readonly string[] } | "everything";

/** Where a ledger keeps its rows. Failures reject with `LogError`. */
export interface BudgetBackend {
  /**
   * Runs `work` on the rows while nobody else changes any, then keeps what it changed, all or nothing. It changes nothing when it
   * throws, and may be run again on newer rows. Calls of one process take effect in the order in which they were made.
   */
  change<T>(needs: BudgetNeeds, durability: Durability, work: (rows: BudgetRows) => T): Promise<T>;
  /** Runs `work`, which changes nothing, on rows of one moment. */
  look<T>(needs: BudgetNeeds, work: (rows: BudgetRows) => T): Promise<T>;
  /** Calls `wake` after every change, whoever made it, until the returned function is called. Too often does no harm. */
  listen(wake: () => void): () => void;
}

export interface BudgetLedgerTerms {
  /** Names what this ledger remembers. */
  readonly id: string;
  /** Of reservations whose owner nobody named. */
  readonly owner?: string | undefined;
  /** What settlements ask of the disk. */
  readonly durability: Durability;
  /** When a reservation that nobody settled is presumed spent, whoever owns it. */
  readonly presumeSpentAfterMs: number;
  /** Whether the owner of a reservation is known to have ended. */
  readonly isDeadOwner: (owner: string) => boolean;
  /** Unix ms. */
  readonly now: () => number;
  /** How often owners are looked after while somebody waits: nobody tells a ledger that a process died. */
  readonly lookEveryMs: number;
  readonly poll: Poll;
  /** @throws LogError `closed` once the backend is */
  assertOpen(): void;
}

/** The ledger that keeps its rows there. `close` wakes all who wait. */
export function createBudgetLedger(backend: BudgetBackend, terms: BudgetLedgerTerms): BudgetLedger & { close(): void } {
  checkOptionNames("createBudgetLedger", terms, {
    id: true,
    owner: true,
    durability: true,
    presumeSpentAfterMs: BOUND_OPTION,
    isDeadOwner: true,
    now: FUNCTION_OPTION,
    lookEveryMs: true,
    poll: true,
    assertOpen: true,
  });
  const { now, presumeSpentAfterMs, assertOpen } = terms;
  const waiters = createBudgetWaiters(
    (scopes, work) => backend.look({ keys: [], scopes }, work),
    (wake) => {
      const stopListening = backend.listen(wake);
      const stopLooking = terms.poll(lookAfterOwners, terms.lookEveryMs);
      return () => {
        stopListening();
        stopLooking();
      };
    },
  );

  /** Asks about each owner once. */
  function leftNow(): IsLeft {
    const dead = new Map<string, boolean>();
    const oldest = now() - presumeSpentAfterMs;
    return ({ key, owner, at }) => {
      // Who still waits here is no older than now.
      if (at <= oldest && !waiters.isWaiting(key)) return true;
      if (owner === undefined) return false;
      let isDead = dead.get(owner);
      if (isDead === undefined) dead.set(owner, (isDead = terms.isDeadOwner(owner)));
      return isDead;
    };
  }

  async function presumeWhatWasLeft(): Promise<boolean> {
    if (!(await backend.look("everything", (rows) => hasLeft(rows, leftNow())))) return false;
    return backend.change("everything", "process", (rows) => presumeLeft(rows, leftNow()));
  }

  function lookAfterOwners(): void {
    // Those who wait meet the same failure when they try again, and report it.
    presumeWhatWasLeft().catch(waiters.close);
  }

  async function spentOf(scope: string): Promise<Amounts> {
    assertOpen();
    return backend.look({ keys: [], scopes: [scope] }, (rows) => rows.scope(scope)?.spent ?? []);
  }

  const ledger: BudgetLedger & { close(): void } = {
    id: terms.id,
    async reserve(
      key: string,
      scopes: readonly BudgetScope[],
      amount: Usd | BudgetAmount,
      { owner = terms.owner, inTurn = false }: ReserveOptions = {},
    ): Promise<Reservation> {
      assertOpen();
      const wanted = amountsOf(amount, "the amount of reservation", key);
      const limits = limitsByScope(scopes);
      const attempt = (): Promise<Reservation> =>
        backend.change({ keys: [key], scopes: [...limits.keys()] }, "process", (rows) =>
          reserve(rows, { key, limits, wanted, owner, at: now(), inTurn }),
        );
      const reservation = await attempt();
      return reservation.type === "wait" && (await presumeWhatWasLeft()) ? attempt() : reservation;
    },
    async settle(key: string, actual: Usd | BudgetAmount) {
      assertOpen();
      const amounts = amountsOf(actual, "the settlement of", key);
      await backend.change({ keys: [key], scopes: [] }, terms.durability, (rows) => settle(rows, key, amounts));
    },
    async release(key: string) {
      assertOpen();
      await backend.change({ keys: [key], scopes: [] }, "process", (rows) => release(rows, key));
    },
    async spent(scope: string) {
      return moneyIn(await spentOf(scope));
    },
    async used(scope: string) {
      return budgetAmountOf(await spentOf(scope));
    },
    async retire(scope: string) {
      assertOpen();
      await backend.change({ keys: [], scopes: [scope] }, "process", (rows) => rows.retire(scope));
    },
    async changed(scopes: readonly string[], { signal, key }: { readonly signal: AbortSignal; readonly key?: string }) {
      assertOpen();
      await waiters.wait(scopes, key, signal);
      assertOpen();
    },
    close: () => waiters.close(),
  };
  return checkMethodOptions("ledger", ledger, BUDGET_LEDGER_METHODS);
}

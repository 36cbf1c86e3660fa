import type { BudgetAmount, BudgetLedger, Usd } from "@keelson/protocol";
import { type Amounts, amountsOf } from "../kit/budget-amounts.ts";
import { emptyScope } from "../kit/budget-book.ts";
import { LOOK_FOR_DEAD_EVERY_MS, PRESUME_SPENT_AFTER_MS, REMEMBERED_RETIRED } from "../kit/budget-ledger-terms.ts";
import type { BudgetRows, PlaceRow, ReservationRow, ScopeRow } from "../kit/budget-rows.ts";
import { createBudgetLedger } from "../kit/create-budget-ledger.ts";
import { isDeadOwner } from "../../platform/process-owner.ts";
import { type Poll, pollAlive } from "../kit/poll.ts";
import { scopesOf } from "../kit/budget-queue.ts";
import { checkOptionNames } from "../../json/option-names.ts";
import { RecentSettlements } from "./recent-settlements.ts";
import { BOUND_OPTION, FUNCTION_OPTION, POSITIVE_OPTION } from "../../json/option-rules.ts";

export interface MemoryBudgetLedgerOptions {
  /** What was spent before, by scope: for budgets that outlive the process. Runs that are resumed tell their part themselves. */
  readonly spent?: Readonly<Record<string, Usd | BudgetAmount>> | undefined;
  /** When a reservation that nobody settled is presumed spent, whoever owns it. Default 1 hour. */
  readonly presumeSpentAfterMs?: number | undefined;
  /** Whether the owner of a reservation is known to have ended. Default: its process has. */
  readonly isDeadOwner?: ((owner: string) => boolean) | undefined;
  /** Unix ms. Default `Date.now`. */
  readonly now?: (() => number) | undefined;
  /** How often owners are looked after while somebody waits. Default 1 s. */
  readonly pollMs?: number | undefined;
  /** Repeats `tick` every `pollMs` until the returned function is called. Default a timer, which keeps the process alive while a run waits. */
  readonly poll?: Poll | undefined;
}

/** A ledger that lives as long as this object; everything in one process that shares it shares its limits. */
export function createMemoryBudgetLedger(options: MemoryBudgetLedgerOptions = {}): BudgetLedger {
  checkOptionNames("createMemoryBudgetLedger", options, {
    spent: true,
    presumeSpentAfterMs: BOUND_OPTION,
    isDeadOwner: true,
    now: FUNCTION_OPTION,
    pollMs: POSITIVE_OPTION,
    poll: true,
  });
  const rows = new MemoryBudgetRows();
  for (const [scope, spent] of Object.entries(options.spent ?? {}))
    rows.keepScope({ ...emptyScope(scope), spent: amountsOf(spent, "the spent amount of", scope) });
  const listeners = new Set<() => void>();
  const { close: _nobodyCloses, ...ledger } = createBudgetLedger(
    {
      async change(_needs, _durability, work) {
        const result = work(rows);
        for (const wake of listeners) wake();
        return result;
      },
      look: async (_needs, work) => work(rows),
      listen(wake) {
        listeners.add(wake);
        return () => listeners.delete(wake);
      },
    },
    {
      // Another ledger in memory, also one of the same process, remembers nothing of this one.
      id: `memory/${globalThis.crypto.randomUUID()}`,
      durability: "process",
      presumeSpentAfterMs: options.presumeSpentAfterMs ?? PRESUME_SPENT_AFTER_MS,
      isDeadOwner: options.isDeadOwner ?? isDeadOwner,
      now: options.now ?? Date.now,
      lookEveryMs: options.pollMs ?? LOOK_FOR_DEAD_EVERY_MS,
      poll: options.poll ?? pollAlive,
      assertOpen() {},
    },
  );
  return ledger;
}

class MemoryBudgetRows implements BudgetRows {
  readonly #scopes = new Map<string, ScopeRow>();
  readonly #reservations = new Map<string, ReservationRow>();
  readonly #settlements = new RecentSettlements();
  /** In the order in which they came: a map keeps the place of a key that is set again. */
  readonly #places = new Map<string, PlaceRow>();
  // Two generations: a scope is forgotten when so many others were retired after it.
  #retired = new Set<string>();
  #retiredBefore: ReadonlySet<string> = new Set();

  scope(name: string): ScopeRow | undefined {
    return this.#scopes.get(name);
  }
  keepScope(row: ScopeRow): void {
    this.#scopes.set(row.name, row);
  }
  reservation(key: string): ReservationRow | undefined {
    return this.#reservations.get(key);
  }
  openReservations(): readonly ReservationRow[] {
    return [...this.#reservations.values()].filter(({ isPresumed }) => !isPresumed);
  }
  keepReservation(row: ReservationRow): void {
    this.#reservations.set(row.key, row);
  }
  dropReservation(key: string): void {
    this.#reservations.delete(key);
  }
  settlement(key: string): Amounts | undefined {
    return this.#settlements.get(key);
  }
  keepSettlement(key: string, amounts: Amounts): void {
    this.#settlements.add(key, amounts);
  }
  place(key: string): PlaceRow | undefined {
    return this.#places.get(key);
  }
  places(): readonly PlaceRow[] {
    return [...this.#places.values()];
  }
  keepPlace(row: PlaceRow): void {
    this.#places.set(row.key, row);
  }
  dropPlace(key: string): void {
    this.#places.delete(key);
  }
  retire(name: string): void {
    if (!this.#scopes.has(name)) return;
    this.#retired.add(name);
    if (this.#retired.size < REMEMBERED_RETIRED) return;
    const waitedFor = new Set([...this.#places.values()].flatMap((place) => [...scopesOf(place)]));
    const kept = new Set<string>();
    for (const old of this.#retiredBefore) {
      if (this.#scopes.get(old)?.open === 0 && !waitedFor.has(old)) this.#scopes.delete(old);
      else kept.add(old);
    }
    this.#retiredBefore = this.#retired;
    this.#retired = kept;
  }
}

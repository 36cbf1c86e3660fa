import type { BudgetAmount, BudgetLedger, BudgetScope, Reservation, ReserveOptions, Usd } from "@keelson/protocol";
import {
  type Amounts,
  addTo,
  amountsOf,
  budgetAmountOf,
  isCounted,
  limitsByScope,
  moneyIn,
  refusalBy,
  sameAmounts,
  shortageOf,
  waitAnswer,
} from "../kit/budget-amounts.ts";
import {
  LOOK_FOR_DEAD_EVERY_MS,
  PRESUME_SPENT_AFTER_MS,
  REMEMBERED_RETIRED,
  noReservation,
  otherReservation,
  otherSettlement,
} from "../kit/budget-ledger-terms.ts";
import { type Account, isFirst, isIdle, joinLine, type Place, wakeNext } from "./memory-budget-line.ts";
import { isDeadOwner } from "../kit/process-owner.ts";
import { RecentSettlements } from "../kit/recent-settlements.ts";
import { type Poll, pollAlive } from "../kit/poll.ts";
import { checkOptionNames } from "../../json/option-names.ts";

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

interface OpenReservation {
  readonly accounts: ReadonlyMap<string, Account>;
  readonly amounts: Amounts;
  owner: string | undefined;
  at: number;
  isPresumed: boolean;
}

const RESERVED: Reservation = { type: "reserved" };

/** A ledger that lives as long as this object; everything in one process that shares it shares its limits. */
export function createMemoryBudgetLedger(options: MemoryBudgetLedgerOptions = {}): BudgetLedger {
  checkOptionNames("createMemoryBudgetLedger", options, {
    spent: true,
    presumeSpentAfterMs: true,
    isDeadOwner: true,
    now: true,
    pollMs: true,
    poll: true,
  });
  const { presumeSpentAfterMs = PRESUME_SPENT_AFTER_MS, isDeadOwner: isDead = isDeadOwner, now = Date.now } = options;
  const { pollMs = LOOK_FOR_DEAD_EVERY_MS, poll = pollAlive } = options;
  const accounts = new Map<string, Account>();
  const open = new Map<string, OpenReservation>();
  const settlements = new RecentSettlements();
  const places = new Map<string, Place>();
  let retired = new Set<string>();
  let retiredBefore: ReadonlySet<string> = new Set();
  let tickets = 0;
  let waiting = 0;
  let stopLooking: (() => void) | undefined;
  for (const [scope, spent] of Object.entries(options.spent ?? {}))
    addTo(accountOf(scope).spent, amountsOf(spent, "the spent amount of", scope));

  function accountOf(scope: string): Account {
    let account = accounts.get(scope);
    if (account === undefined) {
      account = { spent: [], reserved: [], open: 0, lines: [], watchers: new Set() };
      accounts.set(scope, account);
    }
    return account;
  }

  function tryReserve(limits: ReadonlyMap<string, Amounts>, wanted: Amounts, place: Place | undefined): Reservation {
    let wait: Reservation | undefined;
    for (const [scope, limit] of limits) {
      const refusal = refusalBy(scope, limit, accounts.get(scope), wanted);
      if (refusal !== undefined) return refusal;
    }
    for (const [scope, limit] of limits) {
      const account = accounts.get(scope);
      if (account === undefined) continue;
      for (let unit = 0; unit < wanted.length; unit++) {
        if (!isCounted(limit, wanted, unit)) continue;
        const first = account.lines[unit]?.[0];
        // Whoever came first goes first, also where there is room for a later one.
        const isBehind = first !== undefined && first !== place && (place === undefined || first.ticket < place.ticket);
        const available = isBehind ? 0n : shortageOf(limit, account, wanted, unit);
        if (available === undefined) continue;
        wait ??= waitAnswer(scope, unit, available);
        if (place === undefined) return wait;
        joinLine(place, account, unit);
      }
    }
    return wait ?? RESERVED;
  }

  /** Presumes spent what dead owners left open, and clears their places. @returns whether there was anything */
  function presumeDead(): boolean {
    const judged = new Map<string, boolean>();
    const isGone = (owner: string | undefined, at: number): boolean => {
      if (at + presumeSpentAfterMs <= now()) return true;
      if (owner === undefined) return false;
      let dead = judged.get(owner);
      if (dead === undefined) judged.set(owner, (dead = isDead(owner)));
      return dead;
    };
    let found = false;
    for (const reservation of open.values()) {
      if (reservation.isPresumed || !isGone(reservation.owner, reservation.at)) continue;
      reservation.isPresumed = found = true;
      for (const account of reservation.accounts.values()) {
        addTo(account.reserved, reservation.amounts, -1);
        addTo(account.spent, reservation.amounts);
        account.open -= 1;
      }
      wakeNext(reservation.accounts.values());
    }
    for (const [key, place] of places) {
      // Who still waits here is no older than now.
      if (!isGone(place.owner, place.wake ? now() : place.at)) continue;
      found = true;
      leave(key);
    }
    return found;
  }

  function leave(key: string): void {
    const place = places.get(key);
    if (place === undefined) return;
    places.delete(key);
    for (const line of place.lines.keys()) line.splice(line.indexOf(place), 1);
    place.wake?.();
    wakeNext(new Set(place.lines.values()));
  }

  function close(key: string, { accounts: held, amounts, isPresumed }: OpenReservation, actual: Amounts | undefined): void {
    open.delete(key);
    for (const account of held.values()) {
      addTo(isPresumed ? account.spent : account.reserved, amounts, -1);
      if (!isPresumed) account.open -= 1;
      if (actual) addTo(account.spent, actual);
    }
    wakeNext(held.values());
  }

  return {
    // Another ledger in memory, also one of the same process, remembers nothing of this one.
    id: `memory/${globalThis.crypto.randomUUID()}`,
    async reserve(
      key: string,
      scopes: readonly BudgetScope[],
      amount: Usd | BudgetAmount,
      { owner, inTurn = false }: ReserveOptions = {},
    ): Promise<Reservation> {
      const wanted = amountsOf(amount, "the amount of reservation", key);
      const limits = limitsByScope(scopes);
      if (settlements.get(key) !== undefined) return RESERVED;
      const standing = open.get(key);
      if (standing !== undefined) {
        const isSame =
          sameAmounts(standing.amounts, wanted) &&
          standing.accounts.size === limits.size &&
          [...limits.keys()].every((id) => standing.accounts.has(id));
        if (!isSame) throw otherReservation(key);
        if (standing.isPresumed) reopen(standing);
        standing.owner = owner;
        standing.at = now();
        return RESERVED;
      }
      let place = places.get(key);
      if (inTurn && place === undefined) place = { ticket: ++tickets, lines: new Map(), owner, at: now(), isDue: false, wake: undefined };
      let answer = tryReserve(limits, wanted, place);
      if (answer.type === "wait" && presumeDead()) answer = tryReserve(limits, wanted, place);
      if (answer.type === "wait") {
        if (place !== undefined) {
          place.isDue = false;
          place.at = now();
          places.set(key, place);
        }
        return answer;
      }
      if (answer.type === "reserved") {
        const held = new Map<string, Account>();
        for (const scope of limits.keys()) {
          const account = accountOf(scope);
          addTo(account.reserved, wanted);
          account.open += 1;
          held.set(scope, account);
        }
        open.set(key, { accounts: held, amounts: wanted, owner, at: now(), isPresumed: false });
      }
      if (place !== undefined) {
        places.set(key, place);
        leave(key);
      }
      return answer;
    },
    async settle(key: string, actual: Usd | BudgetAmount) {
      const amounts = amountsOf(actual, "the settlement of", key);
      const reservation = open.get(key);
      if (reservation !== undefined) {
        settlements.add(key, amounts);
        close(key, reservation, amounts);
        return;
      }
      const before = settlements.get(key);
      if (before === undefined) throw noReservation(key);
      if (!sameAmounts(before, amounts)) throw otherSettlement(key, before, amounts);
    },
    async release(key: string) {
      const reservation = open.get(key);
      if (reservation !== undefined) close(key, reservation, undefined);
      else leave(key);
    },
    async spent(scope: string) {
      return moneyIn(accounts.get(scope)?.spent ?? []);
    },
    async used(scope: string) {
      return budgetAmountOf(accounts.get(scope)?.spent ?? []);
    },
    async retire(scope: string) {
      if (!accounts.has(scope)) return;
      retired.add(scope);
      if (retired.size < REMEMBERED_RETIRED) return;
      const kept = new Set<string>();
      for (const old of retiredBefore) {
        if (isIdle(accounts.get(old))) accounts.delete(old);
        else kept.add(old);
      }
      retiredBefore = retired;
      retired = kept;
    },
    changed(scopes: readonly string[], { signal, key }: { readonly signal: AbortSignal; readonly key?: string }) {
      if (signal.aborted) return Promise.resolve();
      const place = key === undefined ? undefined : places.get(key);
      const watched = scopes.map((scope) => accounts.get(scope)).filter((account) => account !== undefined);
      const isQuiet = watched.every((account) => account.open === 0);
      if (place === undefined) {
        if (isQuiet && !watched.some((account) => account.lines.some((line) => line !== undefined && line.length > 0)))
          return Promise.resolve();
      } else if (isFirst(place) && (place.isDue || isQuiet)) return Promise.resolve();
      return new Promise<void>((resolve) => {
        const wake = (): void => {
          if (place) place.wake = undefined;
          else for (const account of watched) account.watchers.delete(wake);
          signal.removeEventListener("abort", wake);
          lookLess();
          resolve();
        };
        if (place) place.wake = wake;
        else for (const account of watched) account.watchers.add(wake);
        signal.addEventListener("abort", wake);
        lookMore();
      });
    },
  };

  function reopen(reservation: OpenReservation): void {
    reservation.isPresumed = false;
    for (const account of reservation.accounts.values()) {
      addTo(account.spent, reservation.amounts, -1);
      addTo(account.reserved, reservation.amounts);
      account.open += 1;
    }
  }

  /** Nobody tells a ledger that an owner died: it looks, while somebody waits. */
  function lookMore(): void {
    waiting += 1;
    stopLooking ??= poll(() => void presumeDead(), pollMs);
  }

  function lookLess(): void {
    waiting -= 1;
    if (waiting > 0) return;
    stopLooking?.();
    stopLooking = undefined;
  }
}

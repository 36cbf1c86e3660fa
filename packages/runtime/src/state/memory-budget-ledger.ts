import {
  type BudgetLedger,
  type BudgetScope,
  fromPicoUsd,
  LogError,
  type Reservation,
  toPicoUsd,
  type Usd,
  ZERO_USD,
} from "@keelson/protocol";

export interface MemoryBudgetLedgerOptions {
  /** What was spent before, by scope: a run that is resumed goes on from the totals of its log. */
  readonly spent?: Readonly<Record<string, Usd>>;
}

/** In pico-dollars. */
interface Account {
  spent: bigint;
  reserved: bigint;
  /** Open reservations that count against it. */
  open: number;
  readonly waiters: Set<() => void>;
}

interface OpenReservation {
  readonly accounts: ReadonlyMap<string, Account>;
  readonly amount: bigint;
}

const RESERVED: Reservation = { type: "reserved" };

/** A ledger that lives as long as this object; everything in one process that shares it shares its limits. */
export function createMemoryBudgetLedger(options: MemoryBudgetLedgerOptions = {}): BudgetLedger {
  const accounts = new Map<string, Account>();
  const open = new Map<string, OpenReservation>();
  const settled = new Map<string, bigint>();
  for (const [scope, spent] of Object.entries(options.spent ?? {}))
    accountOf(scope).spent = amountOf(spent, `the spent amount of "${scope}"`);

  function accountOf(scope: string): Account {
    let account = accounts.get(scope);
    if (account === undefined) accounts.set(scope, (account = { spent: 0n, reserved: 0n, open: 0, waiters: new Set() }));
    return account;
  }

  function close(key: string, reservation: OpenReservation, actual: bigint): void {
    open.delete(key);
    const waiters = new Set<() => void>();
    for (const account of reservation.accounts.values()) {
      account.reserved -= reservation.amount;
      account.open -= 1;
      account.spent += actual;
      for (const wake of account.waiters) waiters.add(wake);
    }
    for (const wake of waiters) wake();
  }

  return {
    async reserve(key: string, scopes: readonly BudgetScope[], amount: Usd): Promise<Reservation> {
      const wanted = amountOf(amount, `the amount of reservation "${key}"`);
      const limits = new Map<string, bigint>();
      for (const { id, maxCost } of scopes) {
        const limit = amountOf(maxCost, `the limit of "${id}"`);
        const other = limits.get(id);
        limits.set(id, other === undefined || limit < other ? limit : other);
      }
      if (settled.has(key)) return RESERVED;
      const standing = open.get(key);
      if (standing !== undefined) {
        if (
          standing.amount === wanted &&
          standing.accounts.size === limits.size &&
          [...limits.keys()].every((id) => standing.accounts.has(id))
        )
          return RESERVED;
        throw invalid(`Reservation "${key}" is open with other scopes or another amount. Another act needs another key.`);
      }
      const held = new Map<string, Account>();
      let wait: Reservation | undefined;
      for (const [scope, limit] of limits) {
        const account = accounts.get(scope);
        const spent = account?.spent ?? 0n;
        if (spent + wanted > limit) return { type: "refused", scope, limit: fromPicoUsd(limit), spent: fromPicoUsd(spent) };
        const available = limit - spent - (account?.reserved ?? 0n);
        if (available < wanted) wait ??= { type: "wait", scope, available: fromPicoUsd(available > 0n ? available : 0n) };
      }
      if (wait !== undefined) return wait;
      for (const scope of limits.keys()) {
        const account = accountOf(scope);
        account.reserved += wanted;
        account.open += 1;
        held.set(scope, account);
      }
      open.set(key, { accounts: held, amount: wanted });
      return RESERVED;
    },
    async settle(key: string, actual: Usd) {
      const cost = amountOf(actual, `the settlement of "${key}"`);
      const reservation = open.get(key);
      if (reservation !== undefined) {
        settled.set(key, cost);
        close(key, reservation, cost);
        return;
      }
      const before = settled.get(key);
      if (before === undefined)
        throw new LogError({
          kind: "not-found",
          log: key,
          message: `There is no reservation "${key}" to settle: it was released, or made on another ledger. Reserve before settling.`,
        });
      if (before !== cost)
        throw invalid(`Reservation "${key}" was settled for ${fromPicoUsd(before)}; it cannot be settled for ${actual} as well.`);
    },
    async release(key: string) {
      const reservation = open.get(key);
      if (reservation !== undefined) close(key, reservation, 0n);
    },
    async spent(scope: string) {
      const account = accounts.get(scope);
      return account === undefined ? ZERO_USD : fromPicoUsd(account.spent);
    },
    changed(scopes: readonly string[], { signal }: { readonly signal: AbortSignal }) {
      const watched = scopes.map((scope) => accounts.get(scope)).filter((account) => account !== undefined);
      if (signal.aborted || watched.every((account) => account.open === 0)) return Promise.resolve();
      return new Promise<void>((resolve) => {
        const wake = (): void => {
          for (const account of watched) account.waiters.delete(wake);
          signal.removeEventListener("abort", wake);
          resolve();
        };
        for (const account of watched) account.waiters.add(wake);
        signal.addEventListener("abort", wake);
      });
    },
  };
}

/** @throws LogError `invalid-input` unless it is a decimal amount from zero. */
function amountOf(amount: Usd, what: string): bigint {
  let pico: bigint;
  try {
    pico = toPicoUsd(amount);
  } catch (cause) {
    throw invalid(`${what} must be a decimal amount in US dollars; it is ${JSON.stringify(amount)}.`, cause);
  }
  if (pico < 0n) throw invalid(`${what} must not be negative; it is ${amount}.`);
  return pico;
}

function invalid(message: string, cause?: unknown): LogError {
  return new LogError({ kind: "invalid-input", message }, cause === undefined ? undefined : { cause });
}

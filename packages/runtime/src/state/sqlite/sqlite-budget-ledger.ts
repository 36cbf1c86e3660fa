import {
  type BudgetAmount,
  type BudgetLedger,
  type BudgetScope,
  type Durability,
  LogError,
  type Reservation,
  type ReserveOptions,
  type Usd,
} from "@keelson/protocol";
import { type Amounts, amountsOf, budgetAmountOf, limitsByScope, moneyIn } from "../kit/budget-amounts.ts";
import { LOOK_FOR_DEAD_EVERY_MS, PRESUME_SPENT_AFTER_MS } from "../kit/budget-ledger-terms.ts";
import { isDeadOwner, processOwner } from "../kit/process-owner.ts";
import { createSqliteBudgetBook } from "./sqlite-budget-book.ts";
import { createSqliteBudgetWaiters } from "./sqlite-budget-waiters.ts";
import { openSqliteDatabase } from "./sqlite-database.ts";
import { BUSY_TIMEOUT_MS } from "./sqlite-file.ts";
import type { Poll } from "../kit/poll.ts";
import { checkOptionNames } from "../../json/option-names.ts";

export interface SqliteBudgetLedgerOptions {
  /** The database file; it and its folder are created when missing. An event log may use the same one. */
  readonly path: string;
  /** What settlements ask of the disk. Default `power`. */
  readonly durability?: Durability | undefined;
  /** When a reservation that nobody settled is presumed spent, also where nobody can know whether its owner lives. Default 1 hour. */
  readonly presumeSpentAfterMs?: number | undefined;
  /** Whether the owner of a reservation is known to have ended. Default: its process has. */
  readonly isDeadOwner?: ((owner: string) => boolean) | undefined;
  /** Unix ms. Default `Date.now`. */
  readonly now?: (() => number) | undefined;
  /** How often those who wait look for what other processes did. Default 50. */
  readonly pollMs?: number | undefined;
  /** Repeats `tick` every so many ms until the returned function is called. Default a timer, which keeps the process alive while a run waits. */
  readonly poll?: Poll | undefined;
  /** How long a write keeps trying while other processes hold the lock. Default 10 s. */
  readonly busyTimeoutMs?: number | undefined;
}

export interface SqliteBudgetLedger extends BudgetLedger, AsyncDisposable {}

/**
 * A ledger in a SQLite database on a local disk, for any number of processes at once: together they keep its limits.
 * @throws LogError when the file is damaged, another program's, of a newer version, or can't be created
 */
export function createSqliteBudgetLedger(pathOrOptions: string | SqliteBudgetLedgerOptions): SqliteBudgetLedger {
  const options: SqliteBudgetLedgerOptions = typeof pathOrOptions === "string" ? { path: pathOrOptions } : pathOrOptions;
  checkOptionNames("createSqliteBudgetLedger", options, {
    path: true,
    durability: true,
    presumeSpentAfterMs: true,
    isDeadOwner: true,
    now: true,
    pollMs: true,
    poll: true,
    busyTimeoutMs: true,
  });
  const { durability = "power", now = Date.now, busyTimeoutMs = BUSY_TIMEOUT_MS, presumeSpentAfterMs = PRESUME_SPENT_AFTER_MS } = options;
  const database = openSqliteDatabase(options.path);
  const book = createSqliteBudgetBook({ database, now, presumeSpentAfterMs, isDeadOwner: options.isDeadOwner ?? isDeadOwner });
  let closed = false;
  const waiters = createSqliteBudgetWaiters({
    database,
    book,
    presumeDead: () => write("process", () => book.presumeDead()),
    lookEveryMs: LOOK_FOR_DEAD_EVERY_MS,
    ...(options.pollMs !== undefined && { pollMs: options.pollMs }),
    ...(options.poll && { poll: options.poll }),
  });

  function assertOpen(): void {
    if (closed) throw new LogError({ kind: "closed", message: "The budget ledger was disposed of. Create another one to go on." });
  }

  async function write<T>(how: Durability, work: () => T): Promise<T> {
    const result = await database.write(
      how,
      () => {
        assertOpen();
        return work();
      },
      busyTimeoutMs,
    );
    waiters.lookAgain();
    return result;
  }

  return {
    id: `sqlite/${database.read(() => book.id())}`,
    async reserve(
      key: string,
      scopes: readonly BudgetScope[],
      amount: Usd | BudgetAmount,
      { owner = processOwner(), inTurn = false }: ReserveOptions = {},
    ): Promise<Reservation> {
      assertOpen();
      const wanted = amountsOf(amount, "the amount of reservation", key);
      const limits = limitsByScope(scopes);
      return write("process", () => book.reserve({ key, limits, wanted, owner, inTurn }));
    },
    async settle(key: string, actual: Usd | BudgetAmount) {
      assertOpen();
      const amounts = amountsOf(actual, "the settlement of", key);
      await write(durability, () => book.settle(key, amounts));
    },
    async release(key: string) {
      assertOpen();
      await write("process", () => book.release(key));
    },
    async spent(scope: string) {
      return moneyIn(spentOf(scope));
    },
    async used(scope: string) {
      return budgetAmountOf(spentOf(scope));
    },
    async retire(scope: string) {
      assertOpen();
      await write("process", () => book.retire(scope));
    },
    async changed(scopes: readonly string[], { signal, key }: { readonly signal: AbortSignal; readonly key?: string }) {
      assertOpen();
      await waiters.wait(scopes, key, signal);
      assertOpen();
    },
    async [Symbol.asyncDispose]() {
      if (closed) return;
      closed = true;
      waiters.close();
      database.close();
    },
  };

  function spentOf(scope: string): Amounts {
    assertOpen();
    return database.read(() => book.spent(scope));
  }
}

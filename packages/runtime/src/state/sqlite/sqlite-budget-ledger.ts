import { type BudgetLedger, type Durability, LogError } from "@keelson/protocol";
import { LOOK_FOR_DEAD_EVERY_MS, PRESUME_SPENT_AFTER_MS } from "../kit/budget-ledger-terms.ts";
import { createBudgetLedger } from "../kit/create-budget-ledger.ts";
import { isDeadOwner, processOwner } from "../../platform/process-owner.ts";
import { type Poll, pollAlive } from "../kit/poll.ts";
import { SqliteBudgetRows } from "./sqlite-budget-rows.ts";
import { openSqliteDatabase } from "./sqlite-database.ts";
import { BUSY_TIMEOUT_MS } from "./sqlite-file.ts";
import { createForeignWatch } from "./sqlite-foreign-watch.ts";
import { checkOptionNames } from "../../json/option-names.ts";
import { BOUND_OPTION, FUNCTION_OPTION, POSITIVE_OPTION } from "../../json/option-rules.ts";

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
    presumeSpentAfterMs: BOUND_OPTION,
    isDeadOwner: true,
    now: FUNCTION_OPTION,
    pollMs: POSITIVE_OPTION,
    poll: true,
    busyTimeoutMs: BOUND_OPTION,
  });
  const { durability = "power", busyTimeoutMs = BUSY_TIMEOUT_MS, poll = pollAlive, pollMs } = options;
  const database = openSqliteDatabase(options.path);
  const rows = new SqliteBudgetRows(database);
  const foreignWatch = createForeignWatch(database, { poll, pollMs });
  let closed = false;
  const assertOpen = (): void => {
    if (closed) throw new LogError({ kind: "closed", message: "The budget ledger was disposed of. Create another one to go on." });
  };
  const { close, ...ledger } = createBudgetLedger(
    {
      async change(_needs, how, work) {
        const result = await database.write(
          how,
          () => {
            assertOpen();
            return work(rows);
          },
          busyTimeoutMs,
        );
        database.wake(BUDGETS);
        return result;
      },
      // In a transaction of its own: what other processes commit meanwhile must not be seen in part.
      async look(_needs, work) {
        return database.read(() => {
          database.prepare("BEGIN").run();
          try {
            return work(rows);
          } finally {
            if (database.connection.isTransaction) database.prepare("COMMIT").run();
          }
        });
      },
      listen(wake) {
        const stopListening = database.listen(BUDGETS, wake);
        const stopWatching = foreignWatch.watch(wake);
        return () => {
          stopListening();
          stopWatching();
        };
      },
    },
    {
      id: `sqlite/${database.read(() => database.prepare("SELECT id FROM budget_ledger").get()?.["id"] as string)}`,
      owner: processOwner(),
      durability,
      presumeSpentAfterMs: options.presumeSpentAfterMs ?? PRESUME_SPENT_AFTER_MS,
      isDeadOwner: options.isDeadOwner ?? isDeadOwner,
      now: options.now ?? Date.now,
      lookEveryMs: LOOK_FOR_DEAD_EVERY_MS,
      poll,
      assertOpen,
    },
  );
  return {
    ...ledger,
    async [Symbol.asyncDispose]() {
      if (closed) return;
      closed = true;
      close();
      foreignWatch.close();
      database.close();
    },
  };
}

/** What the waiters of all ledgers on one file listen to. No log has such a name. */
const BUDGETS = "\0budgets";

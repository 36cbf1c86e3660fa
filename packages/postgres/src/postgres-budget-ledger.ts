import { type BudgetLedger, type Durability, LogError } from "@keelson/protocol";
import { isDeadOwner as hasEnded, processOwner } from "keelson/state";
import {
  type BudgetNeeds,
  type BudgetSheet,
  createBudgetLedger,
  LOOK_FOR_DEAD_EVERY_MS,
  type Poll,
  PRESUME_SPENT_AFTER_MS,
} from "keelson/state/kit";
import { BUDGETS, type ChangeHub } from "./change-hub.ts";
import type { Connection } from "./connection/connection.ts";
import { postgresBudgetRows, type SheetNeeds } from "./postgres-budget-sheet.ts";
import type { PostgresDatabase } from "./postgres-database.ts";
import { clockOf } from "./postgres-log-statements.ts";

export interface PostgresBudgetLedgerOptions {
  readonly presumeSpentAfterMs?: number | undefined;
  readonly isDeadOwner?: ((owner: string) => boolean) | undefined;
}

/** The call needs what only one may touch at a time. */
const NEEDS_ALL = Symbol("needs all");

export function createPostgresBudgetLedger(of: {
  readonly database: PostgresDatabase;
  readonly hub: ChangeHub;
  /** Unix ms. Default: the clock of the database. */
  readonly now: (() => number) | undefined;
  readonly poll: Poll;
  readonly options: PostgresBudgetLedgerOptions;
}): BudgetLedger & AsyncDisposable {
  const { database, hub, poll, options } = of;
  const { schema } = database;
  const clock = clockOf(of.now);
  const rows = postgresBudgetRows(schema);
  let closed = false;
  /** When the rows before a call were read, by the clock that judges. */
  let moment = 0;
  /** The call before: calls take effect in the order in which they were made. */
  let last: Promise<unknown> = Promise.resolve();
  const assertOpen = (): void => {
    if (closed) throw new LogError({ kind: "closed", message: "The budget ledger was closed. Call createPostgres again to go on." });
  };

  async function readMoment(connection: Connection): Promise<number> {
    const [row] = await connection.query(`SELECT ${clock.sql} AS now`, [clock.value()]);
    return Number(row?.["now"]);
  }

  /**
   * Most calls share the ledger, and keep others from their key and their scopes only. Who touches the queue, or looks at everything, has
   * it alone: the queue is one order over all scopes.
   */
  async function changeOnce<T>(needs: SheetNeeds, isAlone: boolean, durability: Durability, work: (sheet: BudgetSheet) => T): Promise<T> {
    return database.transaction(async (connection) => {
      const lock = isAlone ? "pg_advisory_xact_lock" : "pg_advisory_xact_lock_shared";
      await connection.query(`SELECT ${lock}(hashtextextended($1::text, 0))`, [`keelson/budgets/${schema}`]);
      // Also a key that has no row yet is changed by one at a time.
      for (const key of isAlone ? [] : needs.keys.toSorted())
        await connection.query("SELECT pg_advisory_xact_lock(hashtextextended($1::text, 1))", [
          `${schema}/${key.replaceAll("\0", "\u0001")}`,
        ]);
      if (durability === "power") await connection.query("SELECT set_config('synchronous_commit', 'on', true)");
      const at = await readMoment(connection);
      const sheet = await rows.read(connection, needs, true);
      if (!isAlone && sheet.places().length > 0) throw NEEDS_ALL;
      assertOpen();
      moment = at;
      const result = work(sheet);
      if (!isAlone && sheet.changed.places.size > 0) throw NEEDS_ALL;
      await rows.write(connection, sheet);
      return result;
    });
  }

  async function change<T>(needs: SheetNeeds, durability: Durability, work: (sheet: BudgetSheet) => T): Promise<T> {
    if (needs.all) return changeOnce(needs, true, durability, work);
    try {
      return await changeOnce(needs, false, durability, work);
    } catch (error) {
      if (error !== NEEDS_ALL) throw error;
      return changeOnce(needs, true, durability, work);
    }
  }

  const { close, ...ledger } = createBudgetLedger(
    {
      async change(needs, durability, work) {
        const turn = last.then(() => change(sheetNeeds(needs), durability, work));
        last = turn.catch(() => {});
        const result = await turn;
        hub.changed(BUDGETS);
        return result;
      },
      look(needs, work) {
        return database.transaction(async (connection) => {
          const at = await readMoment(connection);
          const sheet = await rows.read(connection, sheetNeeds(needs), false);
          moment = at;
          return work(sheet);
        }, "snapshot");
      },
      listen: (wake) => hub.wait(BUDGETS, wake),
    },
    {
      id: "",
      owner: processOwner(),
      durability: "power",
      presumeSpentAfterMs: options.presumeSpentAfterMs ?? PRESUME_SPENT_AFTER_MS,
      isDeadOwner: options.isDeadOwner ?? hasEnded,
      // Rows and clock are of the same moment: `work` runs as soon as both are read.
      now: () => moment,
      lookEveryMs: LOOK_FOR_DEAD_EVERY_MS,
      poll,
      assertOpen,
    },
  );
  return {
    ...ledger,
    get id() {
      return idOf(database);
    },
    async [Symbol.asyncDispose]() {
      if (closed) return;
      closed = true;
      close();
      await last;
    },
  };
}

/** It is the schema's, which is known once that was opened: by then somebody has read a log of it, or asked it to be ready. */
function idOf(database: PostgresDatabase): string {
  if (database.opened !== undefined) return `postgres/${database.opened.id}`;
  throw new LogError({
    kind: "unavailable",
    message: `The ledger in ${database.where} has no name before it was connected to. Await ready() of what createPostgres returned first.`,
  });
}

function sheetNeeds(needs: BudgetNeeds): SheetNeeds {
  return needs === "everything" ? { keys: [], scopes: [], all: true } : { ...needs, all: false };
}

import type { SqliteBudgetBook } from "./sqlite-budget-book.ts";
import { changesOf, type PlaceRow, type ScopeRow } from "./sqlite-budget-rows.ts";
import type { SqliteDatabase } from "./sqlite-database.ts";
import { type Poll, pollAlive } from "../kit/poll.ts";
import { createForeignWatch } from "./sqlite-foreign-watch.ts";

/** Those of this process who wait for a budget. */
export interface SqliteBudgetWaiters {
  wait(scopes: readonly string[], key: string | undefined, signal: AbortSignal): Promise<void>;
  /** Tells the waiters of every ledger of this process on this file that something may have changed. */
  lookAgain(): void;
  /** Wakes all. */
  close(): void;
}

interface Waiter {
  readonly scopes: readonly string[];
  /** Of a place in the line. */
  readonly key: string | undefined;
  /** Changes of its scopes when it began to wait; of no meaning for a place in the line. */
  readonly seen: number;
  wake(): void;
}

/** What the waiters of all ledgers on one file listen to. No log has such a name. */
const BUDGETS = "\0budgets";

export function createSqliteBudgetWaiters({
  database,
  book,
  presumeDead,
  lookEveryMs,
  pollMs,
  poll = pollAlive,
}: {
  readonly database: SqliteDatabase;
  readonly book: SqliteBudgetBook;
  presumeDead(): Promise<unknown>;
  readonly lookEveryMs: number;
  readonly pollMs?: number;
  readonly poll?: Poll;
}): SqliteBudgetWaiters {
  const foreignWatch = createForeignWatch(database, { poll, ...(pollMs !== undefined && { pollMs }) });
  const waiting = new Set<Waiter>();
  let stopLooking: (() => void) | undefined;

  const wakeAll = (): void => {
    for (const waiter of [...waiting]) waiter.wake();
  };

  /** Wakes those whose turn it is: of those in line only who is first in all its lines. */
  function look(): void {
    if (waiting.size === 0) return;
    try {
      database.read(() => {
        const line = book.line();
        for (const waiter of [...waiting]) if (isDue(waiter, line)) waiter.wake();
      });
    } catch {
      // They meet the same failure when they try again, and report it.
      wakeAll();
    }
  }

  function isDue({ scopes, key, seen }: Waiter, line: readonly PlaceRow[]): boolean {
    const place = key === undefined ? undefined : line.find((one) => one.key === key);
    if (place !== undefined) return isFirst(place, line) && changesOf(place.lines, book.scopeAt) !== place.seen;
    // A place that is gone was cleared: it must be taken again.
    return key !== undefined || changesIn(rowsOf(scopes)) !== seen;
  }

  const rowsOf = (scopes: readonly string[]): readonly ScopeRow[] =>
    scopes.map((scope) => book.scope(scope)).filter((row) => row !== undefined);

  function start(): void {
    const stopListening = database.listen(BUDGETS, look);
    const stopWatching = foreignWatch.watch(look);
    // Nobody tells a ledger that an owner died: it looks, while somebody waits.
    const stopPolling = poll(lookForDead, lookEveryMs);
    stopLooking = () => {
      stopListening();
      stopWatching();
      stopPolling();
      stopLooking = undefined;
    };
  }

  function lookForDead(): void {
    try {
      if (!database.read(() => book.hasDead())) return;
    } catch {
      wakeAll();
      return;
    }
    presumeDead().catch(wakeAll);
  }

  return {
    async wait(scopes, key, signal) {
      if (signal.aborted) return;
      const { isOver, seen, inLine } = database.read(() => {
        const rows = rowsOf(scopes);
        const line = book.line();
        const place = key === undefined ? undefined : line.find((one) => one.key === key);
        const isQuiet = rows.every(({ open }) => open === 0);
        if (place !== undefined) {
          const hasChanged = isQuiet || changesOf(place.lines, book.scopeAt) !== place.seen;
          return { seen: 0, inLine: key, isOver: hasChanged && isFirst(place, line) };
        }
        const ids = new Set(rows.map(({ id }) => id));
        const isIdle = isQuiet && !line.some((one) => one.lines.some((name) => ids.has(Number(name.slice(0, name.indexOf(":"))))));
        return { seen: changesIn(rows), inLine: undefined, isOver: isIdle };
      });
      if (isOver) return;
      await new Promise<void>((resolve) => {
        const waiter: Waiter = {
          scopes,
          key: inLine,
          seen,
          wake() {
            if (!waiting.delete(waiter)) return;
            signal.removeEventListener("abort", waiter.wake);
            if (waiting.size === 0) stopLooking?.();
            resolve();
          },
        };
        waiting.add(waiter);
        signal.addEventListener("abort", waiter.wake);
        if (stopLooking === undefined) start();
        // What another process did since the reading above is seen at once, not at the next change.
        look();
      });
    },
    lookAgain() {
      database.wake(BUDGETS);
    },
    close() {
      wakeAll();
      foreignWatch.close();
    },
  };
}

function isFirst(place: PlaceRow, line: readonly PlaceRow[]): boolean {
  const own = new Set(place.lines);
  for (const other of line) if (other.ticket < place.ticket && other.lines.some((name) => own.has(name))) return false;
  return true;
}

function changesIn(rows: readonly ScopeRow[]): number {
  let sum = 0;
  for (const { changes } of rows) sum += changes;
  return sum;
}

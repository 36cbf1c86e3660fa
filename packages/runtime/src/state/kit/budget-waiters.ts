import { changesOf, firstOfEach, isDue, isFirst, scopesOf } from "./budget-queue.ts";
import type { BudgetRows } from "./budget-rows.ts";

/** Those who wait through one ledger object. */
export interface BudgetWaiters {
  /** Until something changes in these scopes or, for the key of a place in line, until its turn comes. */
  wait(scopes: readonly string[], key: string | undefined, signal: AbortSignal): Promise<void>;
  /** Whether somebody waits here for the turn of this key. */
  isWaiting(key: string): boolean;
  /** Wakes all. */
  close(): void;
}

interface Waiter {
  readonly scopes: readonly string[];
  readonly key: string | undefined;
  /** Changes of its scopes when it began to wait. Absent until that was looked up, and for a place in line. */
  seen: number | undefined;
  /** The key has a place: it waits for its turn. */
  inLine: boolean;
  readonly wake: () => void;
}

/** @param look reads rows of one moment @param start begins to call `wake` whenever something may have changed, until the returned function is called */
export function createBudgetWaiters(
  look: <T>(scopes: readonly string[], work: (rows: BudgetRows) => T) => Promise<T>,
  start: (wake: () => void) => () => void,
): BudgetWaiters {
  const waiting = new Set<Waiter>();
  let stop: (() => void) | undefined;
  let isLooking = false;
  let lookAgain = false;

  const wakeAll = (): void => {
    for (const waiter of [...waiting]) waiter.wake();
  };

  /** Wakes those whose turn it is. What changes while it looks is looked at once more. */
  async function lookAtAll(): Promise<void> {
    lookAgain = true;
    if (isLooking) return;
    isLooking = true;
    try {
      while (lookAgain && waiting.size > 0) {
        lookAgain = false;
        const all = [...waiting];
        const due = await look(
          all.flatMap(({ scopes }) => scopes),
          (rows) => {
            const first = firstOfEach(rows);
            return all.filter((waiter) => isOver(rows, waiter, first));
          },
        );
        for (const waiter of due) waiter.wake();
      }
    } catch {
      // They meet the same failure when they try again, and report it.
      wakeAll();
    } finally {
      isLooking = false;
    }
  }

  return {
    async wait(scopes, key, signal) {
      if (signal.aborted) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      const waiter: Waiter = {
        scopes,
        key,
        seen: undefined,
        inLine: false,
        wake() {
          if (!waiting.delete(waiter)) return;
          signal.removeEventListener("abort", waiter.wake);
          if (waiting.size === 0) {
            stop?.();
            stop = undefined;
          }
          resolve();
        },
      };
      // First it waits, then it looks: what changes in between wakes it.
      waiting.add(waiter);
      signal.addEventListener("abort", waiter.wake);
      stop ??= start(() => void lookAtAll());
      try {
        if (await look(scopes, (rows) => begin(rows, waiter))) waiter.wake();
        else void lookAtAll();
      } catch (error) {
        waiter.wake();
        throw error;
      }
      await promise;
    },
    isWaiting(key) {
      for (const waiter of waiting) if (waiter.inLine && waiter.key === key) return true;
      return false;
    },
    close: wakeAll,
  };
}

/** Takes note of how things stand when somebody begins to wait. @returns whether that is over at once */
function begin(rows: BudgetRows, waiter: Waiter): boolean {
  const { scopes, key } = waiter;
  const isQuiet = scopes.every((name) => (rows.scope(name)?.open ?? 0) === 0);
  const place = key === undefined ? undefined : rows.place(key);
  if (place !== undefined) {
    waiter.inLine = true;
    const first = firstOfEach(rows);
    return isDue(rows, place, first) || (isQuiet && isFirst(place, first));
  }
  waiter.seen = changesOf(rows, scopes);
  return isQuiet && !rows.places().some((other) => scopes.some((name) => scopesOf(other).has(name)));
}

function isOver(rows: BudgetRows, { scopes, key, seen, inLine }: Waiter, first: ReturnType<typeof firstOfEach>): boolean {
  if (inLine) {
    const place = rows.place(key ?? "");
    // A place that is gone was cleared: it must be taken again.
    return place === undefined || isDue(rows, place, first);
  }
  return seen !== undefined && changesOf(rows, scopes) !== seen;
}

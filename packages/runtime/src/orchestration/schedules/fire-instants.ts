import { DirectiveError, sessionLog } from "@keelson/protocol";
import type { Run } from "../../agent/definition/run.ts";
import type { RunnerInternals } from "../../agent/runner/runner-internals.ts";
import type { Clock } from "../../platform/clock.ts";
import { deliver, isInUse, signalSession, type Delivery } from "./deliver-instant.ts";
import type { InstantFinder } from "./due-instants.ts";
import type { RetryBackoff } from "./retry-backoff.ts";
import type { ScheduleBook } from "./schedule-book.ts";
import { deliveredRecord, firedRecord, givenUpRecord, type ScheduleState } from "./schedule-state.ts";
import type { FiredInstant, ScheduleProblem } from "./scheduler.ts";

export interface FiringParts {
  readonly inner: RunnerInternals;
  readonly book: ScheduleBook;
  readonly finder: InstantFinder;
  readonly patience: RetryBackoff;
  readonly clock: Clock;
  readonly maxPending: number;
  readonly missedAfterMs: number;
  onRun(run: Run<unknown>, instant: FiredInstant): void;
  tell(problem: ScheduleProblem): void;
}

/** What a tick does, in this order. Each may be done again at any time, here or elsewhere. */
export interface Firing {
  fireDue(now: number): Promise<readonly FiredInstant[]>;
  /** Asks whether runs have read what they were told, where their logs say something new. */
  lookAfterPending(): Promise<void>;
  /** When there is something to do again, Unix ms. */
  nextTime(): Promise<number | undefined>;
}

export function createFiring({ inner, book, finder, patience, clock, maxPending, missedAfterMs, onRun, tell }: FiringParts): Firing {
  const { services } = inner;
  return { fireDue, lookAfterPending, nextTime };

  async function fireDue(now: number): Promise<readonly FiredInstant[]> {
    const due: { readonly state: ScheduleState; readonly at: number }[] = [];
    for (const state of book.table.live.values()) {
      const { id } = state.terms;
      if (!patience.isOver(id, now)) continue;
      try {
        const { instants, givenUpTo, isOverrun } = await finder.due(state, now, { maxPending, missedAfterMs });
        for (const at of instants) due.push({ state, at });
        if (isOverrun)
          tell({
            id,
            message: `The schedule ${id} missed more than ${maxPending} instants: the older ones, up to ${new Date(givenUpTo as number).toISOString()}, are left out`,
          });
        if (instants.length === 0 && givenUpTo !== undefined)
          await book.append(({ live }) => ((live.get(id)?.dealtUpTo ?? givenUpTo) < givenUpTo ? [givenUpRecord(id, givenUpTo)] : []));
      } catch (error) {
        if (!DirectiveError.is(error)) throw error;
        patience.failed(id, now);
        tell({ id, message: `The times of the schedule ${id} could not be found`, error });
      }
    }
    // At one time in the order in which they were asked for: the sort is stable.
    due.sort((a, b) => a.at - b.at);
    const fired: FiredInstant[] = [];
    for (const { state, at } of due) {
      // One that failed keeps its order: what comes after it waits, too.
      if (!patience.isOver(state.terms.id, now)) continue;
      try {
        fired.push(await fire(state, at));
        patience.forget(state.terms.id);
      } catch (error) {
        patience.failed(state.terms.id, now);
        tell({ id: state.terms.id, message: `The schedule ${state.terms.id} could not fire`, error });
      }
    }
    return fired;
  }

  async function fire({ terms }: ScheduleState, at: number): Promise<FiredInstant> {
    const { id, session, action } = terms;
    const entry = await signalSession(inner, terms, at);
    const { isDone, run } = await tryToDeliver(terms, at, entry);
    const instant: FiredInstant = { id, session, action, scheduledAt: at, ...(isDone && run && { run: run.id }) };
    // Before anything else can fail: nobody gets to see this run another time.
    if (run) onRun(run, instant);
    await book.append(({ live }) => ((live.get(id)?.dealtUpTo ?? at) < at ? [firedRecord({ id, at, entry, delivered: isDone })] : []));
    return instant;
  }

  async function lookAfterPending(): Promise<void> {
    for (const { terms, pending } of [...book.table.live.values()]) {
      for (const [at, entry] of [...pending]) {
        const place = pendingPlace(terms.id, at);
        if (!patience.isOver(place, clock.now())) continue;
        const head = await services.log.head(sessionLog(terms.session));
        if (patience.stamp(place) === head) {
          patience.failed(place, clock.now(), head);
          continue;
        }
        const { isDone, run } = await tryToDeliver(terms, at, entry);
        if (run)
          onRun(run, { id: terms.id, session: terms.session, action: terms.action, scheduledAt: at, ...(isDone && { run: run.id }) });
        if (!isDone) continue;
        await book.append(({ live }) => (live.get(terms.id)?.pending.has(at) ? [deliveredRecord(terms.id, at)] : []));
        patience.forget(place);
      }
    }
  }

  async function tryToDeliver(terms: ScheduleState["terms"], at: number, entry: number): Promise<Delivery> {
    const place = pendingPlace(terms.id, at);
    const head = await services.log.head(sessionLog(terms.session));
    try {
      const delivery = await deliver(inner, terms, at, entry);
      if (!delivery.isDone) patience.failed(place, clock.now(), head);
      return delivery;
    } catch (error) {
      // What failed without a trace in the session's log is tried again all the same.
      patience.failed(place, clock.now());
      if (!isInUse(error)) tell({ id: terms.id, message: `The schedule ${terms.id} fired, but no run could be started`, error });
      return { isDone: false };
    }
  }

  async function nextTime(): Promise<number | undefined> {
    const { live } = book.table;
    finder.keepOnly(live.values());
    const awaited = new Set(["tick"]);
    let next: number | undefined;
    const consider = (at: number | undefined): void => {
      if (at !== undefined) next = next === undefined ? at : Math.min(next, at);
    };
    for (const state of live.values()) {
      const { id } = state.terms;
      awaited.add(id);
      for (const at of state.pending.keys()) {
        const place = pendingPlace(id, at);
        awaited.add(place);
        consider(patience.until(place) ?? clock.now());
      }
      if (state.pending.size >= maxPending) continue;
      consider(patience.until(id) ?? (await finder.next(state)));
    }
    patience.keepOnly(awaited);
    return next;
  }
}

function pendingPlace(id: string, at: number): string {
  return `${id}/${at}`;
}

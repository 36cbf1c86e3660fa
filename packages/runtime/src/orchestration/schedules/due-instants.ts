import { readCron, type CronInstants } from "./cron-instants.ts";
import type { ScheduleState, ScheduleTerms } from "./schedule-state.ts";

export interface DueInstants {
  /** To be fired now, in order. */
  readonly instants: readonly number[];
  /** Instants up to here are left out, by what the schedule wants of missed ones. */
  readonly givenUpTo?: number;
  /** They are left out although it wants each, since there are too many. */
  readonly isOverrun: boolean;
}

const NOTHING_DUE: DueInstants = { instants: [], isOverrun: false };

/** Finds the instants of schedules, and reads each cron expression once. */
export class InstantFinder {
  readonly #crons = new Map<string, CronInstants>();

  /** The first instant that is not dealt with. */
  async next({ terms, dealtUpTo }: ScheduleState): Promise<number | undefined> {
    if (terms.at !== undefined) return terms.at > dealtUpTo ? terms.at : undefined;
    return (await this.#cronOf(terms)).next(dealtUpTo);
  }

  /** @param options.maxPending how many of a schedule's instants may be unread, and how many missed ones are caught up with */
  async due(
    state: ScheduleState,
    now: number,
    { maxPending, missedAfterMs }: { readonly maxPending: number; readonly missedAfterMs: number },
  ): Promise<DueInstants> {
    const { terms, dealtUpTo, pending } = state;
    const first = await this.next(state);
    if (first === undefined || first > now || pending.size >= maxPending) return NOTHING_DUE;
    const all = terms.at === undefined ? (await this.#cronOf(terms)).newest(maxPending, dealtUpTo, now) : [terms.at];
    const last = all.at(-1) as number;
    const wanted = terms.missed === "each" ? all : terms.missed === "latest" ? [last] : all.filter((at) => now - at <= missedAfterMs);
    const start = wanted[0];
    if (start === undefined) return { instants: [], givenUpTo: last, isOverrun: false };
    return {
      instants: wanted.slice(0, maxPending - pending.size),
      ...(first < start && { givenUpTo: start - 1 }),
      isOverrun: first < start && terms.missed === "each",
    };
  }

  /** Forgets expressions that nobody needs any more. */
  keepOnly(live: Iterable<ScheduleState>): void {
    if (this.#crons.size === 0) return;
    const needed = new Set<string>();
    for (const { terms } of live) needed.add(placeOf(terms));
    for (const place of this.#crons.keys()) if (!needed.has(place)) this.#crons.delete(place);
  }

  async #cronOf(terms: ScheduleTerms): Promise<CronInstants> {
    const place = placeOf(terms);
    const known = this.#crons.get(place);
    if (known) return known;
    const read = await readCron(terms.cron as string, terms.timeZone as string);
    this.#crons.set(place, read);
    return read;
  }
}

function placeOf({ cron = "", timeZone = "" }: ScheduleTerms): string {
  return `${timeZone} ${cron}`;
}

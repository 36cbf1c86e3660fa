import { DirectiveError } from "@keelson/protocol";
import type { Cron } from "croner";

/** The instants of a cron expression, Unix ms in whole seconds. */
export interface CronInstants {
  /** The first after `after`, if one is to come. */
  next(after: number): number | undefined;
  /** The newest `count` that are after `after` and not after `upTo`, in ascending order. */
  newest(count: number, after: number, upTo: number): readonly number[];
}

/**
 * Reads a cron expression in a time zone. Where clocks change: a job at fixed times (no `*` and no step in hour, minute and second)
 * whose time does not exist that day fires when the clock is past it, and one whose time comes twice fires the first time. Any other
 * job fires at every time on the clock that it names: not at times that are left out, and at those that come twice, twice.
 * Rejects with `DirectiveError` `execution-failed`.
 */
export async function readCron(expression: string, timeZone: string): Promise<CronInstants> {
  checkTimeZone(timeZone);
  const library = await import("croner");
  let cron: Cron;
  try {
    cron = new library.Cron(expression, { timezone: timeZone, mode: "5-or-6-parts", fixedTimeRule: "no-wildcard", paused: true });
  } catch (cause) {
    const reason = (cause instanceof Error ? cause.message : String(cause)).replace(/^Cron\w+: /, "");
    throw refused(`The cron expression ${JSON.stringify(expression)} can't be read: ${reason}`, cause);
  }
  const instants: CronInstants = {
    next: (after) => cron.nextRun(new Date(after))?.getTime(),
    newest: (count, after, upTo) =>
      cron
        // What it looks back from is left out itself.
        .previousRuns(count + 1, new Date(upTo + SECOND))
        .map((date) => date.getTime())
        .filter((at) => at > after && at <= upTo)
        .slice(0, count)
        .reverse(),
  };
  return instants;
}

const SECOND = 1000;

function checkTimeZone(timeZone: string): void {
  try {
    new Intl.DateTimeFormat("en", { timeZone });
  } catch (cause) {
    throw refused(`There is no time zone ${JSON.stringify(timeZone)}: give an IANA name such as "Europe/Berlin" or "UTC".`, cause);
  }
}

function refused(message: string, cause: unknown): DirectiveError {
  return new DirectiveError({ kind: "execution-failed", directive: "cron", message }, { cause });
}

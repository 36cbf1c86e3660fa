import { DirectiveError, LogError, type EventLog, type Lease } from "@keelson/protocol";
import { createAlarm } from "../../platform/alarm.ts";
import { runnerInternals } from "../../agent/runner/runner-internals.ts";
import type { Runner, SingleRunner } from "../../agent/runner/runner.ts";
import type { Run } from "../../agent/definition/run.ts";
import type { Agents } from "../../agent/definition/agent.ts";
import type { Clock } from "../../platform/clock.ts";
import { InstantFinder } from "./due-instants.ts";
import { createFiring } from "./fire-instants.ts";
import { RetryBackoff } from "./retry-backoff.ts";
import { ScheduleBook, SCHEDULES_LEASE } from "./schedule-book.ts";
import { cancelRecord, scheduleRecord, type ScheduleState } from "./schedule-state.ts";
import { scheduleIdOf, scheduleTerms } from "./schedule-terms.ts";
import type { FiredInstant, Scheduler, ScheduleProblem, ScheduleTick, ScheduleView } from "./scheduler.ts";
import { checkOptionNames } from "../../json/option-names.ts";
import { checkMethodOptions, type MethodOptions } from "../../json/check-method-options.ts";

const SCHEDULER_METHODS: MethodOptions<Scheduler> = {
  schedule: [
    0,
    {
      session: true,
      agent: true,
      action: true,
      key: true,
      missed: true,
      authority: true,
      delay: true,
      at: true,
      cron: true,
      timeZone: true,
    },
  ],
  list: [0, { session: true }],
};

export interface SchedulerOptions {
  /** Its agents work at the instants, in its log's sessions. */
  readonly runner: SingleRunner<never> | SingleRunner<unknown> | Runner<Agents>;
  /** Where the schedules live, under `schedules`. Default: the runner's. */
  readonly log?: EventLog | undefined;
  /** Default: the runner's. */
  readonly clock?: Clock | undefined;
  /** Of one schedule: how many instants may be fired and unread, and how many missed ones `each` catches up with. Default 100. */
  readonly maxPending?: number | undefined;
  /** How late `skip` still fires. Default 60 s. */
  readonly missedAfterMs?: number | undefined;
  /** Schedules with something to come. More are refused. Default 10,000. */
  readonly maxSchedules?: number | undefined;
  /** Records of the schedules' log after which what they add up to goes into a new one. Default 10,000. */
  readonly maxRecords?: number | undefined;
  /** How long a process that fires may be silent before another one does. Default: the runner's `leaseTtlMs`, 30 s. */
  readonly leaseTtlMs?: number | undefined;
  /** Is given each run that is started, or taken up since it waited for a signal or a time. */
  readonly onRun?: ((run: Run<unknown>, instant: FiredInstant) => void) | undefined;
  /** Is told what went wrong where nobody awaits it; it is tried again. Default: a warning of the process. */
  readonly report?: ((problem: ScheduleProblem) => void) | undefined;
}

const DEFAULT_LEASE_TTL_MS = 30_000;

/**
 * A scheduler over an event log. Any number of processes may have one over the same log: all take requests, one at a time fires.
 * It fires while it is started, or when it is told to `tick`.
 *
 * ```ts
 * const scheduler = createScheduler({ runner });
 * await scheduler.schedule({ session: "reports", key: "nightly", action: "Write the report.", cron: "0 3 * * *", timeZone: "Europe/Berlin" });
 * scheduler.start();
 * ```
 */
export function createScheduler(options: SchedulerOptions): Scheduler {
  checkOptionNames("createScheduler", options, {
    runner: true,
    log: true,
    clock: true,
    maxPending: true,
    missedAfterMs: true,
    maxSchedules: true,
    maxRecords: true,
    leaseTtlMs: true,
    onRun: true,
    report: true,
  });
  const inner = runnerInternals(options.runner);
  const { services } = inner;
  const { log = services.log, clock = services.clock, report = warn, onRun } = options;
  const { maxPending = 100, missedAfterMs = 60_000, maxSchedules = 10_000, maxRecords = 10_000 } = options;
  const ttlMs = options.leaseTtlMs ?? services.leaseTtlMs ?? DEFAULT_LEASE_TTL_MS;
  const owner = `${services.owner}:${services.newId()}`;
  const book = new ScheduleBook({ log, maxRecords, durability: services.durability ?? "power" });
  const finder = new InstantFinder();
  const patience = new RetryBackoff();
  const firing = createFiring({
    inner,
    book,
    finder,
    patience,
    clock,
    maxPending,
    missedAfterMs,
    tell,
    onRun: (run, instant) => onRun?.(run, instant),
  });
  const alarm = createAlarm();
  let lease: Lease | undefined;
  let renewedAt = 0;
  let loop: Promise<void> | undefined;
  let isDisposed = false;
  let ticking: Promise<unknown> = Promise.resolve();
  let following: { readonly log: string; readonly ended: Promise<void>; end(): void } | undefined;

  const scheduler: Scheduler = {
    async schedule(request) {
      const id = scheduleIdOf(request.session, request.key);
      await book.refresh();
      if (isKnown(id)) return id;
      const now = clock.now();
      const terms = await scheduleTerms(request, inner, now);
      await book.append(({ live }) => {
        if (isKnown(id)) return [];
        if (live.size >= maxSchedules)
          throw new DirectiveError({
            kind: "execution-failed",
            directive: terms.cron === undefined ? "schedule" : "cron",
            message: `There are ${live.size} schedules, as many as may be: cancel one, or raise maxSchedules.`,
          });
        return [scheduleRecord(terms, now)];
      });
      alarm.ring();
      return id;
    },

    async cancel(id) {
      let wasLive = false;
      await book.append(({ live }) => ((wasLive = live.has(id)) ? [cancelRecord(id)] : []));
      return wasLive;
    },

    async list({ session } = {}) {
      await book.refresh();
      const views: ScheduleView[] = [];
      for (const state of book.table.live.values())
        if (session === undefined || state.terms.session === session) views.push(await viewOf(state));
      return views.sort((a, b) => (a.nextAt ?? Number.POSITIVE_INFINITY) - (b.nextAt ?? Number.POSITIVE_INFINITY));
    },

    start() {
      if (!isDisposed) loop ??= keepFiring();
    },

    tick() {
      const turn = ticking.then(tick);
      ticking = turn.catch(() => {});
      return turn;
    },

    async [Symbol.asyncDispose]() {
      isDisposed = true;
      alarm.ring();
      await loop;
      await ticking;
      following?.end();
      await following?.ended;
      await letGo();
    },
  };
  return checkMethodOptions("scheduler", scheduler, SCHEDULER_METHODS);

  function isKnown(id: string): boolean {
    return book.table.live.has(id) || book.table.over.has(id);
  }

  async function viewOf(state: ScheduleState): Promise<ScheduleView> {
    const { authority: _authority, at: _at, ...terms } = state.terms;
    const nextAt = await finder.next(state);
    return {
      ...terms,
      ...(nextAt !== undefined && { nextAt }),
      ...(state.firedAt !== undefined && { firedAt: state.firedAt }),
      pending: [...state.pending.keys()],
    };
  }

  async function keepFiring(): Promise<void> {
    while (!isDisposed) {
      // Whatever rings from here on is heard.
      const rung = alarm.next();
      let waitMs = ttlMs / 3;
      let keepAlive = true;
      try {
        const { held, nextAt } = await scheduler.tick();
        patience.forget("tick");
        if (nextAt !== undefined) waitMs = Math.min(waitMs, Math.max(0, nextAt - clock.now()));
        keepAlive = !held || nextAt !== undefined;
        if (held) follow();
      } catch (error) {
        // A log that was closed has no more to fire.
        if (isDisposed || LogError.is(error, "closed")) return;
        waitMs = patience.failed("tick", clock.now()) - clock.now();
        tell({ message: "The schedules could not be looked through", error });
      }
      if (isDisposed) return;
      const cancel = clock.after(waitMs, () => alarm.ring(), { keepAlive });
      await rung;
      cancel();
    }
  }

  /** Rings when another process writes. The log is another one from time to time. */
  function follow(): void {
    const { log: id, seq } = book.place;
    if (following?.log === id) return;
    following?.end();
    const ending = new AbortController();
    const watch = async (): Promise<void> => {
      try {
        for await (const _record of log.read(id, { after: seq, follow: true, signal: ending.signal })) alarm.ring();
      } catch (error) {
        // Deleted: what it added up to stands in the next one. Closed: the next look finds out.
        const isExpected = ending.signal.aborted || LogError.is(error, "not-found") || LogError.is(error, "closed");
        if (!isExpected) tell({ message: "The log of the schedules could not be followed", error });
        alarm.ring();
      } finally {
        if (following === own) following = undefined;
      }
    };
    const own = { log: id, ended: Promise.resolve(), end: () => ending.abort("done") };
    following = own;
    own.ended = watch();
  }

  async function tick(): Promise<ScheduleTick> {
    if (isDisposed || !(await hold())) return { held: false, fired: [] };
    try {
      await book.refresh();
      const fired = await firing.fireDue(clock.now());
      await firing.lookAfterPending();
      const nextAt = await firing.nextTime();
      return { held: true, fired, ...(nextAt !== undefined && { nextAt }) };
    } finally {
      if (loop === undefined) await letGo();
    }
  }

  async function hold(): Promise<boolean> {
    const now = clock.now();
    try {
      if (lease !== undefined && Math.abs(now - renewedAt) < ttlMs / 3) return true;
      if (lease === undefined) lease = await log.acquire(SCHEDULES_LEASE, { owner, ttlMs });
      else await lease.renew();
      renewedAt = now;
      return true;
    } catch (error) {
      if (!LogError.is(error, "lease-held") && !LogError.is(error, "stale-epoch")) throw error;
      lease = undefined;
      return false;
    }
  }

  async function letGo(): Promise<void> {
    const held = lease;
    lease = undefined;
    await held?.release().catch((error: unknown) => {
      // The log is closed, which released it.
      if (!LogError.is(error, "closed")) throw error;
    });
  }

  function tell(problem: ScheduleProblem): void {
    try {
      report(problem);
    } catch (error) {
      warn(problem);
      warn({ message: "The scheduler's report failed", error });
    }
  }
}

function warn({ message, error }: ScheduleProblem): void {
  process.emitWarning(error === undefined ? message : `${message}: ${error instanceof Error ? error.message : String(error)}`, {
    type: "KeelsonScheduleWarning",
  });
}

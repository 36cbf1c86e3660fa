import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DirectiveError, type EventLog, inboxLog, type InboxEntry, type LogRecord, sessionLog } from "@keelson/protocol";
import { createAgent, createRunner, type Run, type RunnerOptions, type SingleRunner } from "keelson";
import { createScheduler, type FiredInstant, type ScheduleProblem, type Scheduler, type SchedulerOptions } from "keelson/orchestration";
import type { Clock } from "keelson/session";
import { createMemoryEventLog, createSqliteEventLog } from "keelson/state";
import { scriptedModel, type ScriptedModel, type ScriptedTurn } from "keelson/testing";
import { afterAll, describe, expect, it, vi } from "vitest";
import { recordingTool } from "./support.ts";

const folder = mkdtempSync(join(tmpdir(), "keelson-schedules-"));
afterAll(() => rmSync(folder, { recursive: true }));

const time = (text: string): number => new Date(text).getTime();

interface HandClock extends Clock {
  set(at: number): void;
  /** Whether the process would stay for somebody who waits. */
  holdsProcess(): boolean;
  /** Whether somebody waits for this time. */
  isSetFor(at: number): boolean;
  /** Waits until it is so: looks again whenever somebody begins or ends a wait. */
  until(is: () => boolean): Promise<void>;
  /** Goes there, calling whom it passes, in order, each when nobody is at work any more. */
  walkTo(at: number): Promise<void>;
  /** Who has to be at rest before the clock goes on. */
  readonly workers: Set<Worker>;
}

/** A scheduler that was started, with the runs it has begun. */
interface Worker {
  isWaiting(): boolean;
  readonly runs: readonly Run<unknown>[];
}

function handClock(start: number): HandClock {
  let now = start;
  const timers = new Set<{ readonly at: number; readonly run: () => void; readonly keepAlive: boolean }>();
  const workers = new Set<Worker>();
  let changed = Promise.withResolvers<void>();
  const tell = (): void => {
    changed.resolve();
    changed = Promise.withResolvers();
  };
  const until = async (is: () => boolean): Promise<void> => {
    while (!is()) await changed.promise;
  };
  const rest = async (): Promise<void> => {
    const isAtRest = (): boolean => [...workers].every((worker) => worker.isWaiting());
    for (let seen = -1; ;) {
      await until(isAtRest);
      const runs = [...workers].flatMap((worker) => worker.runs);
      if (runs.length === seen) return;
      seen = runs.length;
      await Promise.all(runs.map((run) => run.outcome));
    }
  };
  return {
    workers,
    until,
    isSetFor: (at) => [...timers].some((timer) => timer.at === at),
    holdsProcess: () => [...timers].some(({ keepAlive }) => keepAlive),
    now: () => now,
    set: (at) => void (now = at),
    after(ms, run, { keepAlive = true } = {}) {
      const timer = { at: now + Math.max(0, ms), run, keepAlive };
      timers.add(timer);
      tell();
      return () => {
        timers.delete(timer);
        tell();
      };
    },
    async walkTo(at) {
      for (;;) {
        await rest();
        const [next] = [...timers].filter((timer) => timer.at <= at).sort((a, b) => a.at - b.at);
        if (next === undefined) break;
        timers.delete(next);
        now = Math.max(now, next.at);
        next.run();
      }
      now = at;
    },
  };
}

interface Life {
  readonly scheduler: Scheduler;
  readonly runner: SingleRunner;
  readonly model: ScriptedModel;
  readonly log: EventLog;
  readonly runs: Run<unknown>[];
  readonly fired: FiredInstant[];
  readonly problems: ScheduleProblem[];
  /** Starts the scheduler, and waits until it has looked for what is due and waits for what is to come. */
  start(): Promise<void>;
  isWaiting(): boolean;
  stop(): Promise<void>;
  /** Fires what is due, and lets the runs that this begins come to their ends. */
  fire(): Promise<readonly string[]>;
}

let lives = 0;
function live(
  clock: HandClock,
  {
    log = createMemoryEventLog({ now: () => clock.now() }),
    turns = Array.from({ length: 300 }, () => "done"),
    scheduler: schedulerOptions = {},
    agent = {},
    ...runnerOptions
  }: RunnerOptions & {
    readonly log?: EventLog;
    readonly turns?: readonly ScriptedTurn[];
    readonly scheduler?: Partial<SchedulerOptions>;
    readonly agent?: object;
  } = {},
): Life {
  const model = scriptedModel(turns);
  const runner = createRunner({
    agent: createAgent({ name: "worker", model, ...agent }),
    log,
    clock,
    random: () => 0.5,
    owner: `life-${++lives}`,
    leaseTtlMs: 30_000,
    durability: "process",
    ...runnerOptions,
  });
  const runs: Run<unknown>[] = [];
  const fired: FiredInstant[] = [];
  const problems: ScheduleProblem[] = [];
  // What the scheduler itself waits for: its next look. A timer that was called has ended its wait.
  const waits = new Set<object>();
  const watched: Clock = {
    now: clock.now,
    after(ms, run, afterOptions) {
      const wait = {};
      waits.add(wait);
      const cancel = clock.after(
        ms,
        () => {
          waits.delete(wait);
          run();
        },
        afterOptions,
      );
      return () => {
        waits.delete(wait);
        cancel();
      };
    },
  };
  const isWaiting = (): boolean => waits.size > 0;
  const worker: Worker = { isWaiting, runs };
  const scheduler = createScheduler({
    runner,
    clock: watched,
    onRun: (run, instant) => {
      runs.push(run);
      fired.push(instant);
    },
    report: (problem) => void problems.push(problem),
    ...schedulerOptions,
  });
  return {
    scheduler,
    runner,
    model,
    log,
    runs,
    fired,
    problems,
    isWaiting,
    start() {
      clock.workers.add(worker);
      scheduler.start();
      return clock.until(isWaiting);
    },
    async stop() {
      clock.workers.delete(worker);
      await scheduler[Symbol.asyncDispose]();
    },
    async fire() {
      const tick = await scheduler.tick();
      await Promise.all(runs.map((run) => run.outcome));
      return tick.fired.map(({ action, scheduledAt }) => `${action} ${new Date(scheduledAt).toISOString().slice(5, 16)}`);
    },
  };
}

async function records(log: EventLog, id: ReturnType<typeof sessionLog>): Promise<readonly LogRecord[]> {
  const found: LogRecord[] = [];
  for await (const record of log.read(id)) found.push(record);
  return found;
}

async function timersTold(log: EventLog, session: string): Promise<readonly number[]> {
  const entries = (await records(log, inboxLog(session))) as unknown as readonly {
    readonly data: Extract<InboxEntry, { type: "signal" }>;
  }[];
  return entries.map(({ data }) => (data.signal.payload as { readonly scheduledAt: number }).scheduledAt);
}

/** What the runs of a session were begun with, and what they were told by signals. */
async function told(log: EventLog, session: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (const { type, data } of await records(log, sessionLog(session))) {
    if (type !== "message" && type !== "steer") continue;
    const { role, content } = data["message"] as unknown as {
      readonly role: string;
      readonly content: readonly { readonly text: string }[];
    };
    if (role === "user") found.push(content.map(({ text }) => text).join(""));
  }
  return found;
}

const START = time("2026-05-04T08:00:00Z");

describe("a schedule", () => {
  it("with a delay fires once: a signal of kind timer in the inbox, and a run with the action as its message [DI-05, SI-02]", async () => {
    const clock = handClock(START);
    const life = live(clock);
    const id = await life.scheduler.schedule({ session: "s1", key: "k", action: "water the plants", delay: "1h 30m" });
    expect(await life.scheduler.list()).toEqual([
      { id, session: "s1", agent: "worker", action: "water the plants", key: "k", missed: "each", nextAt: START + 5_400_000, pending: [] },
    ]);
    clock.set(START + 5_399_999);
    expect(await life.scheduler.tick()).toEqual({ held: true, fired: [], nextAt: START + 5_400_000 });
    clock.set(START + 5_400_000);
    expect(await life.fire()).toEqual(["water the plants 05-04T09:30"]);
    clock.set(START + 9e9);
    expect(await life.scheduler.tick()).toEqual({ held: true, fired: [] });
    expect(await life.scheduler.list()).toEqual([]);
    const payload = { action: "water the plants", scheduledAt: START + 5_400_000, scheduleId: id };
    expect(await records(life.log, inboxLog("s1"))).toMatchObject([
      { key: `timer/${id}/${START + 5_400_000}`, type: "signal", data: { signal: { kind: "timer", payload } } },
    ]);
    expect(life.model.requests.map(({ messages }) => messages.map(({ role }) => role))).toEqual([["user"]]);
    expect(await told(life.log, "s1")).toEqual(["water the plants"]);
    expect(life.fired).toEqual([{ id, session: "s1", action: "water the plants", scheduledAt: START + 5_400_000, run: life.runs[0]?.id }]);
  });

  it("at a time fires at it, and at once when it is past", async () => {
    const clock = handClock(START);
    const life = live(clock);
    await life.scheduler.schedule({ session: "s1", key: "later", action: "later", at: START + 1000 });
    await life.scheduler.schedule({ session: "s2", key: "past", action: "past", at: START - 3_600_000 });
    expect(await life.fire()).toEqual(["past 05-04T07:00"]);
    clock.set(START + 1000);
    expect(await life.fire()).toEqual(["later 05-04T08:00"]);
  });

  it("with a cron expression fires at each of its instants, in its time zone [DI-07]", async () => {
    const clock = handClock(START);
    const life = live(clock);
    await life.scheduler.schedule({ session: "s1", key: "k", action: "report", cron: "0 18 * * MON-FRI", timeZone: "America/New_York" });
    const fired: string[] = [];
    for (let day = 0; day < 7; day++) {
      clock.set(START + day * 86_400_000 + 23 * 3_600_000);
      fired.push(...(await life.fire()));
    }
    expect(fired).toEqual(["04", "05", "06", "07", "08"].map((day) => `report 05-${day}T22:00`));
  });

  it("is the same one when it is asked for again, before and after it fired", async () => {
    const clock = handClock(START);
    const life = live(clock);
    const request = { session: "s1", key: "k", action: "once", delay: "1m" };
    const id = await life.scheduler.schedule(request);
    clock.set(START + 30_000);
    expect(await life.scheduler.schedule(request)).toBe(id);
    clock.set(START + 60_000);
    expect(await life.fire()).toEqual(["once 05-04T08:01"]);
    expect(await live(clock, { log: life.log }).scheduler.schedule(request)).toBe(id);
    clock.set(START + 600_000);
    expect(await life.fire()).toEqual([]);
    // In another session, it is another one.
    expect(await life.scheduler.schedule({ ...request, session: "s2" })).not.toBe(id);
  });

  it("fires no more once it is cancelled", async () => {
    const clock = handClock(START);
    const life = live(clock);
    const id = await life.scheduler.schedule({ session: "s1", key: "k", action: "a", cron: "* * * * *" });
    clock.set(START + 60_000);
    expect(await life.fire()).toHaveLength(1);
    expect([await life.scheduler.cancel(id), await life.scheduler.cancel(id), await life.scheduler.cancel("s_unknown")]).toEqual([
      true,
      false,
      false,
    ]);
    clock.set(START + 600_000);
    expect(await life.scheduler.tick()).toEqual({ held: true, fired: [] });
  });

  it("tells a run that is at work by the signal alone, and starts none beside it", async () => {
    const clock = handClock(START);
    let finish = (): void => {};
    const wait = new Promise<void>((resolve) => (finish = resolve));
    const look = recordingTool("look", { effect: "read" });
    const life = live(clock, {
      turns: [{ toolCalls: [{ name: "look", input: {} }], wait }, "I heard."],
      agent: { tools: [look] },
    });
    const run = life.runner.run("work", { session: "s1" });
    for await (const event of run) if (event.type === "turn-start") break;
    await life.scheduler.schedule({ session: "s1", key: "k", action: "tea", at: START });
    expect(await life.fire()).toEqual(["tea 05-04T08:00"]);
    expect(life.runs).toEqual([]);
    expect((await life.scheduler.list())[0]?.pending).toEqual([START]);
    finish();
    expect((await run.outcome).text).toBe("I heard.");
    expect(await told(life.log, "s1")).toEqual(["work", expect.stringMatching(/^Signal "timer": .*"action":"tea"/)]);
    clock.set(START + 10_000);
    await life.fire();
    expect([await life.scheduler.list(), life.runs]).toEqual([[], []]);
  });

  it("starts a run of its own when the run that was at work ended without reading its signal", async () => {
    const clock = handClock(START);
    const log = createMemoryEventLog({ now: () => clock.now() });
    let finish = (): void => {};
    const wait = new Promise<void>((resolve) => (finish = resolve));
    // It hears of the signal only when it is over.
    const deaf: EventLog = {
      ...log,
      read: (id, options) => log.read(id === inboxLog("s1") ? inboxLog("elsewhere") : id, options),
      head: (id) => log.head(id === inboxLog("s1") ? inboxLog("elsewhere") : id),
    };
    const hearing = live(clock, { log });
    const run = live(clock, { log: deaf, turns: [{ text: "deaf", wait }] }).runner.run("work", { session: "s1" });
    for await (const event of run) if (event.type === "turn-start") break;
    await hearing.scheduler.schedule({ session: "s1", key: "k", action: "tea", at: START });
    await hearing.fire();
    expect(hearing.runs).toEqual([]);
    finish();
    await run.outcome;
    clock.set(START + 1000);
    await hearing.fire();
    expect(hearing.runs).toHaveLength(1);
    // Its input says it; the signal does not say it again.
    expect(await told(log, "s1")).toEqual(["work", "tea"]);
    expect(await hearing.scheduler.list()).toEqual([]);
  });

  it("counts a signal as heard that a later run was told, and starts another one when a route kept it from that", async () => {
    for (const [routes, messages] of [
      [[], ["work", expect.stringContaining("tea")]],
      [[{ kind: "timer", action: { type: "continue" }, priority: 0 }], ["work", "tea"]],
    ] as const) {
      const clock = handClock(START);
      const life = live(clock, { agent: { signalRoutes: routes } });
      await life.scheduler.schedule({ session: "s1", key: "k", action: "tea", at: START });
      // Dies behind the inbox; somebody's run comes before the next look.
      const mortal = dyingLog(life.log, { place: "schedules/", after: 0 });
      void live(clock, { log: mortal }).scheduler.tick();
      await mortal.died;
      await life.log.delete(sessionLog("s1"));
      clock.set(START + 40_000);
      await life.runner.run("work", { session: "s1" }).outcome;
      await life.fire();
      expect(await told(life.log, "s1")).toEqual(messages);
      expect(await life.scheduler.list()).toEqual([]);
    }
  });

  it("takes up a run that waits for a signal, and leaves one that waits for a person alone", async () => {
    const clock = handClock(START);
    const { waitForSignalTool } = await import("keelson/agent");
    const life = live(clock, {
      turns: [{ toolCalls: [{ name: "wait_for_timer", input: {} }] }, "It is time."],
      agent: { tools: [waitForSignalTool({ name: "wait_for_timer", kinds: ["timer"] })] },
      signalWaitMs: 0,
    } as never);
    const run = life.runner.run("wait", { session: "s1" });
    expect((await run.outcome).reason).toBe("awaiting-signal");
    await life.scheduler.schedule({ session: "s1", key: "k", action: "wake up", at: START });
    await life.fire();
    expect(life.runs.map(({ id }) => id)).toEqual([run.id]);
    expect((await life.runs[0]?.outcome)?.text).toBe("It is time.");

    const pay = recordingTool("pay", { effect: "write", risk: "high" });
    const other = live(clock, { turns: [{ toolCalls: [{ name: "pay", input: {} }] }], agent: { tools: [pay] }, approvalWaitMs: 0 });
    expect((await other.runner.run("pay", { session: "s2" }).outcome).reason).toBe("awaiting-approval");
    await other.scheduler.schedule({ session: "s2", key: "k", action: "tea", at: START });
    expect(await other.fire()).toHaveLength(1);
    expect(other.runs).toEqual([]);
    expect((await other.scheduler.list())[0]?.pending).toEqual([START]);
  });

  it("gives the runs it starts no more authority than it was given", async () => {
    const clock = handClock(START);
    const bash = recordingTool("bash");
    const look = recordingTool("look", { effect: "read" });
    const life = live(clock, { turns: [{ toolCalls: [{ name: "bash", input: {} }] }, "no"], agent: { tools: [bash, look] } });
    const authority = { policies: [], allowedTools: ["look"], depth: 1, deadline: START + 1 };
    await life.scheduler.schedule({ session: "s1", key: "k", action: "a", delay: "1m", authority });
    clock.set(START + 60_000);
    await life.fire();
    expect(bash.calls).toEqual([]);
    expect((await life.runs[0]?.outcome)?.reason).toBe("complete");
  });
});

function noRecords(): AsyncIterable<LogRecord> {
  return { [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => {}) }) };
}

/** A log whose process dies at an append: it never hears of it, nor does anything else from then on. */
function dyingLog(
  log: EventLog,
  { place, after, isDone = false }: { readonly place: string; readonly after: number; readonly isDone?: boolean },
): EventLog & { readonly isDead: boolean; readonly died: Promise<void> } {
  let seen = 0;
  let isDead = false;
  const dying = Promise.withResolvers<void>();
  const never = new Promise<never>(() => {});
  const alive = <T>(act: () => Promise<T>): Promise<T> => (isDead ? never : act());
  return {
    get isDead() {
      return isDead;
    },
    died: dying.promise,
    append: (id, expectedSeq, added, options) =>
      alive(async () => {
        if (!id.startsWith(place) || seen++ < after) return log.append(id, expectedSeq, added, options);
        isDead = true;
        if (isDone) await log.append(id, expectedSeq, added, options);
        dying.resolve();
        return never;
      }),
    read: (id, options) => (isDead ? noRecords() : log.read(id, options)),
    head: (id) => alive(() => log.head(id)),
    list: (options) => alive(() => log.list(options)),
    delete: (id) => alive(() => log.delete(id)),
    acquire: (id, options) => alive(() => log.acquire(id, options)),
    [Symbol.asyncDispose]: async () => {},
  };
}

describe("missed instants", () => {
  const missedBy = async (missed: "each" | "latest" | "skip", until: string, options: Partial<SchedulerOptions> = {}) => {
    const clock = handClock(START);
    const log = createMemoryEventLog({ now: () => clock.now() });
    await live(clock, { log }).scheduler.schedule({ session: "s1", key: "k", action: "a", cron: "0 * * * *", missed });
    clock.set(time(until));
    const life = live(clock, { log, scheduler: options });
    const fired = await life.fire();
    return { clock, life, fired: fired.map((line) => line.slice(8)) };
  };

  it("fire each, in order, by default", async () => {
    const { fired, life } = await missedBy("each", "2026-05-04T12:30:00Z");
    expect(fired).toEqual(["09:00", "10:00", "11:00", "12:00"]);
    expect(await timersTold(life.log, "s1")).toEqual(
      [9, 10, 11, 12].map((hour) => time(`2026-05-04T${String(hour).padStart(2, "0")}:00:00Z`)),
    );
    // The first began a run. What came while that was at work was told to it, what came behind it began another.
    const messages = await told(life.log, "s1");
    expect(messages).toHaveLength(4);
    expect(messages[0]).toBe("a");
    expect(messages.every((message) => message === "a" || /^Signal "timer": .*"action":"a"/.test(message))).toBe(true);
  });

  it("fire the newest up to a bound, and say so, when there are too many", async () => {
    const { fired, life } = await missedBy("each", "2026-05-04T18:30:00Z", { maxPending: 3 });
    expect(fired).toEqual(["16:00", "17:00", "18:00"]);
    expect(life.problems.map(({ message }) => message)).toEqual([
      expect.stringMatching(/missed more than 3 instants: .*up to 2026-05-04T15:59:59/),
    ]);
  });

  it("fire the latest alone, or none, as asked; an instant that is a little late is not missed", async () => {
    expect((await missedBy("latest", "2026-05-04T12:30:00Z")).fired).toEqual(["12:00"]);
    const skipping = await missedBy("skip", "2026-05-04T12:30:00Z");
    expect(skipping.fired).toEqual([]);
    skipping.clock.set(time("2026-05-04T13:00:50Z"));
    expect(await skipping.life.fire()).toEqual(["a 05-04T13:00"]);
    expect((await missedBy("skip", "2026-05-04T12:01:00Z")).fired).toEqual(["12:00"]);
    expect((await missedBy("skip", "2026-05-04T12:01:01Z")).fired).toEqual([]);
  });

  it("of one that fires once are over when they are skipped", async () => {
    const clock = handClock(START);
    const life = live(clock);
    await life.scheduler.schedule({ session: "s1", key: "k", action: "a", delay: "1m", missed: "skip" });
    clock.set(START + 3_600_000);
    expect([await life.fire(), await life.scheduler.list()]).toEqual([[], []]);
  });

  it("wait while a session is behind by as many as may be pending", async () => {
    const clock = handClock(START);
    const pay = recordingTool("pay", { effect: "write", risk: "high" });
    const life = live(clock, {
      turns: [{ toolCalls: [{ name: "pay", input: {} }] }, "all heard"],
      agent: { tools: [pay] },
      approvalWaitMs: 0,
      scheduler: { maxPending: 2 },
    });
    const { waits } = await life.runner.run("pay", { session: "s1" }).outcome;
    await life.scheduler.schedule({ session: "s1", key: "k", action: "a", cron: "0 * * * *" });
    clock.set(time("2026-05-04T19:30:00Z"));
    await life.scheduler.schedule({ session: "s1", key: "k2", action: "b", cron: "0 20-23 * * *" });
    clock.set(time("2026-05-04T20:30:00Z"));
    expect(await life.fire()).toEqual(["a 05-04T19:00", "a 05-04T20:00", "b 05-04T20:00"]);
    clock.set(time("2026-05-04T22:30:00Z"));
    // One more fits, the other one waits.
    expect(await life.fire()).toEqual(["b 05-04T21:00"]);
    clock.set(time("2026-05-04T23:30:00Z"));
    expect(await life.fire()).toEqual([]);
    const [wait] = waits ?? [];
    await life.runner.approve(wait?.type === "approval" ? wait.token : "", { type: "allow" });
    await (
      await life.runner.resume("s1")
    ).outcome;
    clock.set(time("2026-05-04T23:40:00Z"));
    await life.fire();
    expect(await life.fire()).toEqual(["a 05-04T22:00", "b 05-04T22:00", "a 05-04T23:00", "b 05-04T23:00"]);
  });
});

describe("a scheduler", () => {
  it("fires while it is started, at the instants and not before, also what others schedule", async () => {
    const clock = handClock(START);
    const log = createMemoryEventLog({ now: () => clock.now() });
    const life = live(clock, { log, scheduler: { leaseTtlMs: 3 * 3_600_000 } });
    await life.start();
    life.scheduler.start();
    await live(clock, { log }).scheduler.schedule({ session: "s1", key: "k", action: "a", delay: "5s" });
    await live(clock, { log }).scheduler.schedule({ session: "s2", key: "k", action: "b", cron: "0 9 * * *" });
    await clock.until(() => clock.isSetFor(START + 5_000));
    await clock.walkTo(START + 4_999);
    expect(life.fired).toEqual([]);
    await clock.walkTo(START + 5_000);
    expect(life.fired.map(({ action }) => action)).toEqual(["a"]);
    await clock.walkTo(START + 26 * 3_600_000);
    expect(life.fired.map(({ action, scheduledAt }) => `${action} ${new Date(scheduledAt).toISOString()}`)).toEqual([
      "a 2026-05-04T08:00:05.000Z",
      "b 2026-05-04T09:00:00.000Z",
      "b 2026-05-05T09:00:00.000Z",
    ]);
    await life.stop();
    await clock.walkTo(START + 99 * 3_600_000);
    expect([life.fired.length, await life.scheduler.tick(), life.problems]).toEqual([3, { held: false, fired: [] }, []]);
  });

  it("lets the process end when nothing is to come", async () => {
    const clock = handClock(START);
    const life = live(clock);
    await life.start();
    expect(clock.holdsProcess()).toBe(false);
    await life.scheduler.schedule({ session: "s1", key: "k", action: "a", delay: "5s" });
    await clock.until(() => clock.holdsProcess());
    await clock.walkTo(START + 60_000);
    expect([life.isWaiting(), clock.holdsProcess(), life.fired.length]).toEqual([true, false, 1]);
    await life.stop();
  });

  it("ends with its log, without a word, and lets the process end", async () => {
    for (const inMemory of [true, false]) {
      const clock = handClock(START);
      const now = (): number => clock.now();
      const life = live(clock, { log: inMemory ? createMemoryEventLog({ now }) : createSqliteEventLog({ path: ":memory:", now }) });
      await life.scheduler.schedule({ session: "s1", key: "k", action: "a", delay: "5s" });
      await life.start();
      expect(clock.holdsProcess()).toBe(true);
      await life.log[Symbol.asyncDispose]();
      await clock.until(() => !life.isWaiting());
      // One look comes after the other: with this one, the look that found the log closed is over too.
      await expect(life.scheduler.tick()).rejects.toMatchObject({ failure: { kind: "closed" } });
      expect([clock.holdsProcess(), life.problems]).toEqual([false, []]);
      await life.stop();
    }
  });

  it("of several processes fires in one; another takes over when that one ends or falls silent", async () => {
    const clock = handClock(START);
    const log = createMemoryEventLog({ now: () => clock.now() });
    const [a, b] = [live(clock, { log }), live(clock, { log })];
    await a.scheduler.schedule({ session: "s1", key: "k", action: "a", cron: "* * * * *" });
    await a.start();
    await b.start();
    await clock.walkTo(START + 150_000);
    expect([a.fired.length, b.fired.length]).toEqual([1, 0].map((n) => n * 2));
    expect((await live(clock, { log }).scheduler.tick()).held).toBe(false);
    await a.stop();
    await clock.walkTo(START + 330_000);
    expect([a.fired.length, b.fired.length]).toEqual([2, 3]);
    await b.stop();
    expect(await timersTold(log, "s1")).toEqual([1, 2, 3, 4, 5].map((minute) => START + minute * 60_000));
  });

  it("keeps its schedules in the log: a new one over the same file goes on with them", async () => {
    const clock = handClock(START);
    const path = join(folder, "restart.db");
    const open = () => createSqliteEventLog({ path, now: () => clock.now() });
    let log = open();
    const id = await live(clock, { log }).scheduler.schedule({ session: "s1", key: "k", action: "a", cron: "@hourly" });
    await log[Symbol.asyncDispose]();
    clock.set(START + 3_600_000);
    log = open();
    const life = live(clock, { log });
    expect((await life.scheduler.list()).map((view) => view.id)).toEqual([id]);
    expect(await life.fire()).toEqual(["a 05-04T09:00"]);
    await log[Symbol.asyncDispose]();
  });

  it("tries again what failed, with patience, and reports it; other schedules do not wait for it", async () => {
    const clock = handClock(START);
    const log = createMemoryEventLog({ now: () => clock.now() });
    let isDown = true;
    const flaky: EventLog = {
      ...log,
      append: (id, ...rest) => (isDown && id === inboxLog("bad") ? Promise.reject(new Error("disk full")) : log.append(id, ...rest)),
    };
    const life = live(clock, { log: flaky });
    for (const session of ["bad", "good"]) await life.scheduler.schedule({ session, key: "k", action: session, delay: "1m" });
    clock.set(START + 60_000);
    expect(await life.fire()).toEqual(["good 05-04T08:01"]);
    expect(life.problems).toMatchObject([{ message: expect.stringMatching(/could not fire/), error: { message: "disk full" } }]);
    expect(await life.scheduler.tick()).toEqual({ held: true, fired: [], nextAt: START + 61_000 });
    isDown = false;
    clock.set(START + 61_000);
    expect(await life.fire()).toEqual(["bad 05-04T08:01"]);
  });

  it("reports a run that can't be started as what it is, and goes on trying", async () => {
    const clock = handClock(START);
    const log = createMemoryEventLog({ now: () => clock.now() });
    await live(clock, { log }).scheduler.schedule({ session: "s1", key: "k", action: "a", delay: "1m" });
    clock.set(START + 60_000);
    const model = scriptedModel(["done"]);
    const stranger = createRunner({ agent: createAgent({ name: "stranger", model }), log, clock });
    const problems: ScheduleProblem[] = [];
    const scheduler = createScheduler({ runner: stranger, report: (problem) => void problems.push(problem) });
    await scheduler.tick();
    expect(problems.map(({ error }) => (DirectiveError.is(error) ? error.message : error))).toEqual([
      expect.stringMatching(/starts the agent "worker", which this runner does not have/),
    ]);
    const life = live(clock, { log });
    clock.set(START + 61_000);
    await life.fire();
    expect(await told(log, "s1")).toEqual(["a"]);
  });

  it("warns of problems by default", async () => {
    const clock = handClock(START);
    const warnings: string[] = [];
    const spy = vi.spyOn(process, "emitWarning").mockImplementation((warning) => void warnings.push(String(warning)));
    const log = createMemoryEventLog({ now: () => clock.now() });
    const failing: EventLog = {
      ...log,
      append: (id, ...rest) => (id.endsWith("/inbox") ? Promise.reject(new Error("full")) : log.append(id, ...rest)),
    };
    const runner = createRunner({ agent: createAgent({ name: "a", model: scriptedModel([]) }), log: failing, clock });
    const scheduler = createScheduler({ runner });
    await scheduler.schedule({ session: "s1", key: "k", action: "a", at: START });
    await scheduler.tick();
    spy.mockRestore();
    expect(warnings).toEqual([expect.stringMatching(/could not fire: full/)]);
  });

  it("refuses what makes no sense, and says what is wrong with it [DI-05, DI-07]", async () => {
    const clock = handClock(START);
    const { scheduler } = live(clock, { scheduler: { maxSchedules: 1 } });
    const base = { session: "s1", key: "k", action: "a" };
    for (const [request, directive, message] of [
      [{ ...base, delay: "soon" }, "schedule", /The duration "soon" cannot be read/],
      [{ ...base, delay: "5 parsecs" }, "schedule", /unknown unit "parsecs"/],
      [{ ...base, cron: "99 * * * *" }, "cron", /"99 \* \* \* \*" can't be read: Invalid value for minute: 99/],
      [{ ...base, cron: "0 0 31 2 *" }, "cron", /names no time that is still to come/],
      [{ ...base, cron: "0 0 * * *", timeZone: "Europe/Atlantis" }, "cron", /no time zone "Europe\/Atlantis"/],
      [{ ...base, delay: "1s", timeZone: "UTC" }, "schedule", /timeZone goes with cron/],
      [{ ...base, at: Number.NaN }, "schedule", /at is a time in whole Unix milliseconds, not null/],
      [base, "schedule", /one of delay, at and cron; it was given none/],
      [{ ...base, delay: "1s", cron: "* * * * *" }, "cron", /it was given delay and cron/],
      [{ ...base, delay: "1s", agent: "ghost" }, "schedule", /The runner has no agent "ghost"/],
      [{ ...base, delay: "1s", key: " " }, "schedule", /needs a key that is a text and not empty/],
      [{ ...base, delay: "1s", session: "a/b" }, "schedule", /"a\/b" can't be a session id/],
      [{ ...base, delay: "1s", session: "a~b" }, "schedule", /is the session of a child run/],
      [{ ...base, delay: "1s", missed: "all" }, "schedule", /missed is "each", "latest" or "skip", not "all"/],
    ] as const) {
      const error: unknown = await scheduler.schedule(request as never).catch((thrown: unknown) => thrown);
      expect(DirectiveError.is(error, "execution-failed") && error.failure).toMatchObject({ directive });
      expect((error as Error).message).toMatch(message);
    }
    expect(await scheduler.list()).toEqual([]);
    await scheduler.schedule({ ...base, delay: "1h" });
    await expect(scheduler.schedule({ ...base, key: "another", delay: "1h" })).rejects.toThrow(/There are 1 schedules, as many as may be/);
  });

  it("of a runner with several agents takes the agent that is named, or else the one of the session's newest run", async () => {
    const clock = handClock(START);
    const models = { ada: scriptedModel(["a", "a"]), bob: scriptedModel(["b", "b"]) };
    const runner = createRunner({
      agents: { ada: createAgent({ name: "ada", model: models.ada }), bob: createAgent({ name: "bob", model: models.bob }) },
      clock,
    });
    const runs: Run<unknown>[] = [];
    const scheduler = createScheduler({ runner, onRun: (run) => void runs.push(run) });
    await runner.run("hello", { agent: "bob", session: "s1" }).outcome;
    await scheduler.schedule({ session: "s1", key: "k", action: "again", at: START });
    await scheduler.schedule({ session: "s2", key: "k", action: "first", at: START, agent: "ada" });
    await expect(scheduler.schedule({ session: "s3", key: "k", action: "x", at: START })).rejects.toThrow(/Say which agent works/);
    await scheduler.tick();
    await Promise.all(runs.map((run) => run.outcome));
    expect([models.ada.requests.length, models.bob.requests.length]).toEqual([1, 2]);
    expect((await scheduler.list({ session: "s1" })).length).toBe(0);
  });
});

describe("an instant", () => {
  it("happens once, wherever its process dies: told once, one run, one message [DI-07]", async () => {
    const outcomes = new Map<string, number>();
    for (const place of ["session/", "schedules/"]) {
      for (const isDone of [false, true]) {
        for (let after = 0; ; after++) {
          const clock = handClock(START);
          const log = createMemoryEventLog({ now: () => clock.now() });
          await live(clock, { log }).scheduler.schedule({ session: "s1", key: "k", action: "a", cron: "0 * * * *" });
          clock.set(START + 3_600_000);
          const dying = dyingLog(log, { place, after, isDone });
          const first = live(clock, { log: dying });
          await Promise.race([first.fire(), dying.died]);
          if (!dying.isDead) break;
          clock.set(clock.now() + 31_000);
          const second = live(clock, { log });
          await Promise.all((await second.runner.recover()).runs.map((run) => run.outcome));
          await second.fire();
          clock.set(clock.now() + 10_000);
          await second.fire();
          const at = `${place} ${after} ${isDone}`;
          expect(await timersTold(log, "s1"), at).toEqual([START + 3_600_000]);
          expect(await told(log, "s1"), at).toEqual(["a"]);
          const types = (await records(log, sessionLog("s1"))).map(({ type }) => type);
          expect(
            types.filter((type) => type === "run-start"),
            at,
          ).toHaveLength(1);
          expect(
            types.filter((type) => type === "run-complete"),
            at,
          ).toHaveLength(1);
          expect(
            (await second.scheduler.list()).map(({ pending }) => pending),
            at,
          ).toEqual([[]]);
          expect(second.problems, at).toEqual([]);
          outcomes.set(place, (outcomes.get(place) ?? 0) + 1);
        }
      }
    }
    // The inbox, the beginning of the run, its turn and its end; the mark. Each before it took place, and behind it.
    expect(outcomes.get("session/")).toBeGreaterThanOrEqual(6);
    expect(outcomes.get("schedules/")).toBe(2);
  });

  it("happens once when two processes fire it at the same time", async () => {
    const clock = handClock(START);
    const log = createMemoryEventLog({ now: () => clock.now() });
    // Neither knows that the other holds the lease.
    const lenient: EventLog = {
      ...log,
      acquire: (id, options) => log.acquire(id === "schedules" ? (`lease-${options.owner}` as never) : id, options),
    };
    const both = [live(clock, { log: lenient }), live(clock, { log: lenient })];
    await both[0]?.scheduler.schedule({ session: "s1", key: "k", action: "a", cron: "0 * * * *" });
    for (let hour = 1; hour <= 3; hour++) {
      clock.set(START + hour * 3_600_000);
      await Promise.all(both.map((life) => life.fire()));
      clock.set(clock.now() + 10_000);
      await Promise.all(both.map((life) => life.fire()));
    }
    expect(await told(log, "s1")).toEqual(["a", "a", "a"]);
    expect(await timersTold(log, "s1")).toEqual([1, 2, 3].map((hour) => START + hour * 3_600_000));
  });

  it.each([
    {
      zone: "Europe/Berlin",
      cron: "30 2 * * *",
      days: ["2026-03-28T01:30", "2026-03-29T01:00", "2026-03-30T00:30", "2026-10-24T00:30", "2026-10-25T00:30", "2026-10-26T01:30"],
      pauses: [
        ["2026-03-27T12:00", "2026-03-30T12:00"],
        ["2026-10-23T12:00", "2026-10-26T12:00"],
      ],
    },
    {
      zone: "America/New_York",
      cron: "30 1 * * *",
      days: ["2026-03-07T06:30", "2026-03-08T06:30", "2026-03-09T05:30", "2026-10-31T05:30", "2026-11-01T05:30", "2026-11-02T06:30"],
      pauses: [
        ["2026-03-06T12:00", "2026-03-09T12:00"],
        ["2026-10-30T12:00", "2026-11-02T12:00"],
      ],
    },
  ])(
    "of $cron in $zone comes at the right time over two changes of the clocks, once, whatever dies between [DI-07]",
    async ({ zone, cron, days, pauses }) => {
      const path = join(folder, `${zone.replace("/", "-")}.db`);
      const clock = handClock(0);
      const instants: number[] = [];
      let lifeNumber = 0;
      let deaths = 0;
      for (const [from, to] of pauses) {
        clock.set(time(`${from}:00Z`));
        const first = createSqliteEventLog({ path, now: () => clock.now() });
        await live(clock, { log: first }).scheduler.schedule({
          session: `s-${from?.slice(0, 7)}`,
          key: "k",
          action: "a",
          cron,
          timeZone: zone,
        });
        await first[Symbol.asyncDispose]();
        // Another process every eight hours, and around each instant; each second one dies just behind the inbox and before its mark.
        const times = new Set<number>();
        for (let at = clock.now(); at <= time(`${to}:00Z`); at += 8 * 3_600_000) times.add(at);
        for (const day of days) {
          const at = time(`${day}:00Z`);
          if (at > time(`${from}:00Z`) && at < time(`${to}:00Z`)) for (const near of [-60_000, 0, 60_000, 3_600_000]) times.add(at + near);
        }
        for (const now of [...times].sort((a, b) => a - b)) {
          clock.set(now);
          const log = createSqliteEventLog({ path, now: () => clock.now() });
          const dies = lifeNumber++ % 2 === 0;
          const mark = dyingLog(log, { place: "schedules/", after: 0 });
          const life = live(clock, { log: dies ? mark : log });
          const recovered = Promise.all([
            life.fire(),
            life.runner.recover().then(({ runs }) => Promise.all(runs.map((run) => run.outcome))),
          ]);
          await Promise.race([recovered, mark.died]);
          deaths += mark.isDead ? 1 : 0;
          await log[Symbol.asyncDispose]();
        }
        const log = createSqliteEventLog({ path, now: () => clock.now() });
        const session = `s-${from?.slice(0, 7)}`;
        await live(clock, { log }).runner.recover();
        instants.push(...(await timersTold(log, session)));
        expect(await told(log, session)).toEqual(["a", "a", "a"]);
        const [schedule] = await live(clock, { log }).scheduler.list({ session });
        await live(clock, { log }).scheduler.cancel(schedule?.id ?? "");
        await log[Symbol.asyncDispose]();
      }
      expect(instants.map((at) => new Date(at).toISOString().slice(0, 16))).toEqual(days);
      expect(deaths).toBeGreaterThan(0);
    },
  );
});

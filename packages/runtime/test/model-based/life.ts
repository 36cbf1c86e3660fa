import {
  AgentError,
  type ApprovalRequest,
  type BudgetLedger,
  LogError,
  type LogId,
  type LogRecord,
  type NewRecord,
  type SessionId,
  sessionLog,
  sessionOf,
} from "@keelson/protocol";
import { createRunner, type Run, type RunOutcome, type SingleRunner } from "keelson";
import { foldSession, type Journal, type SessionState } from "keelson/session";
import { createMemoryBlobStore, createMemoryEventLog } from "keelson/state";
import { foldWhole } from "../../src/session/fold-session.ts";
import { castOf } from "./cast.ts";
import { CountingSignal } from "./counting-signal.ts";
import { executorOf, ledgersOf, tasksOf } from "./feature-services.ts";
import { NO_FEATURES } from "./features.ts";
import { type Appends, observedLog, type ObservedLog } from "./observed-log.ts";
import { Person } from "./person.ts";
import { SimulatedProcess } from "./simulated-process.ts";
import type { Act, Story, WatcherPlan } from "./story.ts";
import { Vendor } from "./vendor.ts";
import { VirtualClock } from "./virtual-clock.ts";
import { watchAsPlanned, type Watching } from "./watching.ts";
import { Witness } from "./witness.ts";

export const SESSION = "s" as SessionId;
const HOUR_MS = 3_600_000;
/** Tools may take this long to notice that they are to stop; the rest is no matter of time. */
const PATIENCE_MS = 10 * 60_000;
const MAX_STRETCHES = 7;
/** A lease that nobody renews is over by then. */
const LEASE_OVER_MS = 30_001;

/** What one handle of the run saw: from its start or resume to its end or suspension, or until its process died. */
export interface Stretch {
  /** Absent: the process died. */
  readonly outcome: RunOutcome<unknown> | undefined;
  readonly watchings: readonly Watching[];
  /** Heads of the logs of all sessions when it began, and when it was over. */
  readonly before: ReadonlyMap<LogId, number>;
  readonly after: ReadonlyMap<LogId, number>;
  /** What its journals knew at the end, those that could write to the end. */
  readonly journals: readonly Journal[];
}

export interface Life {
  readonly story: Story;
  readonly stretches: readonly Stretch[];
  readonly witness: Witness;
  readonly records: ReadonlyMap<LogId, readonly LogRecord[]>;
  /** The session, folded from its log. */
  readonly state: SessionState;
  fold(session: SessionId): Promise<SessionState>;
  /** From its beginning, whatever snapshots there are. */
  foldWhole(session: SessionId): Promise<SessionState>;
  /** Listeners that are left on the signals that the user passed. */
  readonly listeners: number;
  /** Somebody asked for an abort. */
  readonly wasAborted: boolean;
  /** What the ledger of the last process says that shared budgets spent. */
  readonly ledger: BudgetLedger;
  /** What should not have happened while it was lived. */
  readonly oddities: readonly string[];
  /** A run that came after it in the same session. */
  readonly next: RunOutcome<unknown> | undefined;
}

/** A process of the story with all that is in it. */
interface Scene {
  readonly process: SimulatedProcess;
  readonly observed: ObservedLog;
  readonly runner: SingleRunner<unknown>;
  readonly ledger: BudgetLedger;
  readonly signal: CountingSignal;
}

/** Lives a story to its end: starts the run, watches, decides, disturbs, and resumes what is suspended, lost its log or its process. */
export async function live(story: Story): Promise<Life> {
  const clock = new VirtualClock();
  const memory = createMemoryEventLog({ now: () => clock.now() });
  const blobs = createMemoryBlobStore();
  const witness = new Witness();
  const vendor = new Vendor(story);
  const { oddities } = witness;
  const person = new Person(story, oddities);
  const scenes: Scene[] = [];
  const pending: { readonly what: string; readonly promise: Promise<void>; readonly scene: Scene }[] = [];
  const appends: Appends = { count: 0 };
  const ledgerFor = ledgersOf(story.features, clock, (owner) => scenes.some(({ process }) => process.owner === owner && process.isDead));
  const seen = new Map<WatcherPlan, number>();
  let run: Run<unknown> | undefined;
  let watchings: Watching[] = [];
  let ids = 0;
  let wasAborted = false;
  let head = 0;
  let scene = nextScene();

  const stopLooking = witness.look();
  try {
    const stretches: Stretch[] = [];
    const most = MAX_STRETCHES + story.crashes.length;
    for (let count = 0; count < most; count++) {
      if (scene.process.isDead) scene = nextScene();
      const { process, runner, signal } = scene;
      const before = await heads();
      const known = before.get(sessionLog(SESSION)) ?? 0;
      watchings = [];
      witness.beginStretch();
      try {
        run = await begin(known, runner, signal);
      } catch (error) {
        oddities.push(`${known === 0 ? "run" : "resume"} was refused: ${String(error)}`);
        break;
      }
      if (run !== undefined) {
        for (const plan of story.watchers) watch(run, plan, plan.after === "seen" ? (seen.get(plan) ?? 0) : plan.after, undefined);
        if (story.approvals.by === "iterator") follow("run.approvals()", person.takeQuestions(run));
        if (count >= MAX_STRETCHES - 2) follow("the last abort", run.abort());
        await finish(run);
      }
      for (const watching of watchings) {
        if (!(await clock.passUntil(Promise.race([watching.done, process.died]), PATIENCE_MS)))
          oddities.push("a watcher's stream does not end");
        noteSeen(watching);
      }
      const outcome = process.isDead ? undefined : await run?.outcome;
      stretches.push({ outcome, watchings, before, after: await heads(), journals: witness.journals });
      const state = await foldSession(memory, blobs, SESSION);
      if (state.run?.status === "ended") break;
      if (count < 3) await answer(outcome);
    }
    for (const { what, promise, scene: at } of pending)
      if (!(await clock.passUntil(Promise.race([promise, at.process.died]), PATIENCE_MS))) oddities.push(`${what} is never answered`);
    const state = await foldSession(memory, blobs, SESSION);
    const survivors = scenes.filter(({ process }) => !process.isDead);
    if (clock.open > 0) oddities.push(`${clock.open} timers are open`);
    for (const { observed } of survivors) if (observed.following > 0) oddities.push(`${observed.following} readers follow a log`);
    const records = new Map<LogId, readonly LogRecord[]>();
    for (const [id] of await heads()) records.set(id, await collect(memory, id));
    const next = state.run?.status === "ended" ? await anotherRun() : undefined;
    return {
      story,
      stretches,
      witness,
      records,
      state,
      fold: (session) => foldSession(memory, blobs, session),
      foldWhole: (session) => foldWhole(memory, blobs, session),
      wasAborted,
      listeners: survivors.reduce((sum, { signal }) => sum + signal.listeners, 0),
      ledger: scene.ledger,
      oddities,
      next,
    };
  } finally {
    stopLooking();
  }

  /** A process after those that died. The leases that they left behind are over. */
  function nextScene(): Scene {
    const index = scenes.length;
    if (index > 0) clock.advanceTo(clock.now() + LEASE_OVER_MS);
    const observed = observedLog(memory, appends, {
      fault: story.fault,
      appended(id, records, count, seq) {
        witness.committed(id, records, seq);
        if (id === sessionLog(SESSION)) head = seq;
        for (const record of records) if (record.type === "approval-request") onQuestion(record);
        for (const act of story.acts) if (act.at === count) later(act.lag, () => perform(act));
      },
    });
    const own = clock.ofProcess();
    const process = new SimulatedProcess({ owner: `process-${index}`, clock: own, log: observed, crash: story.crashes[index] });
    const stage = { process, witness };
    const { agent, models } = castOf(story, stage, vendor);
    const { features, callbacks } = story;
    const ledger = ledgerFor();
    const created: Scene = {
      process,
      observed,
      ledger,
      signal: new CountingSignal(),
      runner: createRunner({
        agent,
        models,
        log: process.log,
        blobs,
        clock: own,
        ledger,
        effects: executorOf(features, stage, blobs),
        tasks: tasksOf(features, stage),
        approvalKeys: { current: { id: "test", secret: new Uint8Array(32).fill(7) } },
        random: () => 0.5,
        newId: () => `id${++ids}`,
        owner: process.owner,
        stopGraceMs: 10_000,
        signalWaitMs: story.signalWaitMs,
        ...(features.budgets?.shared && { budgets: [{ id: "team", ...features.budgets.shared }] }),
        recordsPerSnapshot: 7,
        ...(callbacks.maxBufferBytes !== undefined && { maxBufferBytes: callbacks.maxBufferBytes }),
        ...(story.approvals.by === "callback" && { approvals: person.approver((ms) => own.sleep(ms)) }),
      }),
    };
    scenes.push(created);
    return created;
  }

  /** @returns nothing where the process dies before there is a run */
  async function begin(known: number, runner: Scene["runner"], { signal }: CountingSignal): Promise<Run<unknown> | undefined> {
    if (known === 0) return runner.run("Go.", { session: SESSION, signal });
    return Promise.race([runner.resume(SESSION, { signal }), scene.process.died.then(() => undefined)]);
  }

  /** Waits for a run; one that a tool or a person keeps waiting for good is aborted, and must end then. */
  async function finish(active: Run<unknown>): Promise<void> {
    const over = Promise.race([active.outcome, scene.process.died]);
    if (await clock.passUntil(over, HOUR_MS)) return;
    follow("abort", active.abort());
    if (!(await clock.passUntil(over, PATIENCE_MS))) throw new Error("the run hangs");
  }

  /** Gives a run that waits what it waits for. */
  async function answer(outcome: RunOutcome<unknown> | undefined): Promise<void> {
    if (scene.process.isDead) scene = nextScene();
    for (const wait of outcome?.waits ?? []) {
      if (wait.type === "timer") clock.advanceTo(wait.at);
      else if (wait.type === "signal") await scene.runner.signal(wait.session ?? SESSION, { kind: wait.name, payload: 7 }).catch(onlyKnown);
      else if ("token" in wait) await person.decideElsewhere(scene.runner, wait.token, wait.type);
    }
  }

  async function heads(): Promise<ReadonlyMap<LogId, number>> {
    return new Map(
      (await memory.list({ prefix: "session/" })).filter((info) => sessionOf(info.log) !== undefined).map((info) => [info.log, info.head]),
    );
  }

  /** Whatever was told to a run that is over must not touch the next one. */
  async function anotherRun(): Promise<RunOutcome<unknown> | undefined> {
    if (scene.process.isDead) clock.advanceTo(clock.now() + LEASE_OVER_MS);
    const own = clock.ofProcess();
    const process = new SimulatedProcess({ owner: "another", clock: own, log: memory, crash: undefined });
    const plain: Story = {
      ...story,
      turns: [],
      childTurns: [],
      fallbackTurns: [],
      features: NO_FEATURES,
      limits: PLAIN_LIMITS,
      callbacks: PLAIN_CALLBACKS,
    };
    const { agent, models } = castOf(plain, { process, witness: new Witness() }, new Vendor(plain));
    const active = createRunner({
      agent,
      models,
      log: memory,
      blobs,
      clock: own,
      owner: "another",
      newId: () => `next${++ids}`,
      random: () => 0.5,
    }).run("And now?", { session: SESSION });
    if (await clock.passUntil(active.outcome, HOUR_MS)) return active.outcome;
    oddities.push("another run of the session hangs");
    return undefined;
  }

  /** Remembers a promise of the run's interface, and that it may fail in the ways of the interface only. */
  function follow(what: string, promise: Promise<unknown>, at: Scene = scene): void {
    wasAborted ||= what.includes("abort");
    const settled = promise.then(
      () => {},
      (error: unknown) => onlyKnown(error, what),
    );
    pending.push({ what, promise: settled, scene: at });
  }

  function tellSignal(what: string, active: Run<unknown>, kind: string): void {
    // A route may make an abort of it.
    wasAborted ||= story.features.signals?.routes.some((route) => route.kind === kind && route.action === "force-stop") === true;
    follow(what, active.signal({ kind, payload: "told" }));
  }

  function onlyKnown(error: unknown, what: string = "runner.signal"): void {
    if (!AgentError.is(error) && !LogError.is(error)) oddities.push(`${what} failed: ${String(error)}`);
  }

  function watch(active: Run<unknown>, plan: WatcherPlan, after: number | undefined, since: number | undefined): void {
    const { process } = scene;
    const rest = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
    watchings.push(watchAsPlanned(active, plan, { after, since, isGone: () => process.isDead, rest }));
  }

  function noteSeen({ plan, events }: Watching): void {
    for (const event of events) if ("seq" in event && event.path === undefined) seen.set(plan, event.seq);
  }

  function later(lag: Act["lag"], work: () => void): void {
    if (lag === 0) work();
    else if (lag === 1) queueMicrotask(work);
    else setImmediate(work);
  }

  function perform({ do: what }: Act): void {
    const active = run;
    if (active === undefined || scene.process.isDead) return;
    switch (what) {
      case "stop":
        return follow(what, active.stop());
      case "abort":
        return follow(what, active.abort("enough"));
      case "signal":
        wasAborted = true;
        return scene.signal.abort();
      case "steer":
        return follow(what, active.steer("Rather this."));
      case "interrupt":
        return follow(what, active.steer("Stop that, rather this.", { interrupt: true }));
      case "set-model":
        return follow(what, active.setModel("other/model"));
      case "set-unknown-model":
        return follow(what, active.setModel("nobody/nothing"));
      case "set-plan-only":
        return follow(what, active.setPermissionMode("plan-only"));
      case "set-bypass-all":
        return follow(what, active.setPermissionMode("bypass-all"));
      case "set-effort":
        return follow(what, active.setEffort("low"));
      case "watch":
      case "watch-past":
        return watch(active, LATE_WATCHER, what === "watch" ? undefined : 0, head);
      case "leave":
        return watchings.find((watching) => !watching.left)?.leave();
      case "stop-child":
      case "retry-child":
        return follow(
          what,
          active.children().then(async (children) => {
            for (const { id } of children) await (what === "stop-child" ? active.stopChild(id) : active.retryChild(id));
          }),
        );
      default:
        return tellSignal(what, active, what.slice("signal-".length));
    }
  }

  function onQuestion(record: NewRecord): void {
    const { by, rival } = story.approvals;
    if (by !== "elsewhere" && !rival) return;
    const { token, question } = record.data as unknown as { readonly token: string; readonly question: ApprovalRequest["type"] };
    const at = scene;
    setImmediate(() => follow("runner.approve", person.decideElsewhere(at.runner, token, question), at));
  }
}

const LATE_WATCHER: WatcherPlan = { after: undefined, pace: 1_000, leavesAfter: undefined };
const PLAIN_LIMITS: Story["limits"] = {
  maxTurns: 9,
  maxRetries: 0,
  maxModelCalls: undefined,
  maxToolCalls: undefined,
  maxAnswerBytes: undefined,
  maxParallelCalls: undefined,
  toolTimeoutMs: undefined,
  maxDurationMs: undefined,
};
const PLAIN_CALLBACKS: Story["callbacks"] = {
  maxBufferBytes: undefined,
  rule: { form: "none", moment: "infer", phase: "before", trouble: "none", from: 0 },
  onModelError: "none",
  instructions: "text",
  fallback: false,
  deafModel: false,
};

async function collect(log: { read(id: LogId): AsyncIterable<LogRecord> }, id: LogId): Promise<readonly LogRecord[]> {
  const records: LogRecord[] = [];
  for await (const record of log.read(id)) records.push(record);
  return records;
}

import {
  AgentError,
  type ApprovalRequest,
  type Approver,
  type Decision,
  type JsonValue,
  type LogId,
  LogError,
  type LogRecord,
  type NewRecord,
  type SessionId,
  sessionLog,
} from "@keelson/protocol";
import { createRunner, type Run, type RunOutcome, type SingleRunner } from "keelson";
import { foldSession, Journal, type SessionState } from "keelson/session";
import { createMemoryBlobStore, createMemoryEventLog } from "keelson/state";
import { castOf, plainModels, type Cast } from "./cast.ts";
import { CountingSignal } from "./counting-signal.ts";
import { type ObservedLog, observedLog } from "./observed-log.ts";
import type { Act, Story } from "./story.ts";
import { VirtualClock } from "./virtual-clock.ts";
import { watchAsPlanned, type Watching } from "./watching.ts";

export const SESSION = "s" as SessionId;
const HOUR_MS = 3_600_000;
/** Tools may take this long to notice that they are to stop; the rest is no matter of time. */
const PATIENCE_MS = 10 * 60_000;
const MAX_STRETCHES = 7;

/** What one handle of the run saw: from its start or resume to its end or suspension. */
export interface Stretch {
  readonly outcome: RunOutcome<unknown>;
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
  readonly cast: Cast;
  readonly log: ObservedLog;
  readonly clock: VirtualClock;
  readonly records: ReadonlyMap<LogId, readonly LogRecord[]>;
  /** The session, folded from its log. */
  readonly state: SessionState;
  fold(session: SessionId): Promise<SessionState>;
  /** Listeners that are left on the signal that the user passed. */
  readonly listeners: number;
  /** What should not have happened while it was lived. */
  readonly oddities: readonly string[];
  /** A run that came after it in the same session. */
  readonly next: RunOutcome<unknown> | undefined;
}

/** Lives a story to its end: starts the run, watches, decides, disturbs, resumes what is suspended or lost its log. */
export async function live(story: Story): Promise<Life> {
  const clock = new VirtualClock();
  const memory = createMemoryEventLog({ now: () => clock.now() });
  const blobs = createMemoryBlobStore();
  const cast = castOf(story, clock);
  const oddities: string[] = [];
  const pending: { readonly what: string; readonly promise: Promise<void> }[] = [];
  const signal = new CountingSignal();
  let run: Run<unknown> | undefined;
  let watchings: Watching[] = [];
  let stretchJournals: Journal[] = [];
  let questions = 0;
  let ids = 0;
  let head = 0;

  const log = observedLog(memory, {
    fault: story.fault,
    appended(id, records, count, seq) {
      if (id === sessionLog(SESSION)) head = seq;
      for (const record of records) if (record.type === "approval-request") onQuestion(id, record);
      for (const act of story.acts) if (act.at === count) later(act.lag, () => perform(act));
    },
  });
  const runner: SingleRunner<undefined> = createRunner({
    agent: cast.agent,
    models: cast.models,
    log,
    blobs,
    clock,
    approvalKeys: { current: { id: "test", secret: new Uint8Array(32).fill(7) } },
    random: () => 0.5,
    newId: () => `id${++ids}`,
    owner: "test",
    stopGraceMs: 10_000,
    ...(story.callbacks.maxBufferBytes !== undefined && { maxBufferBytes: story.callbacks.maxBufferBytes }),
    ...(story.approvals.by === "callback" && { approvals: approver }),
  });

  const openJournal = Journal.open;
  Journal.open = async (options) => {
    const journal = await openJournal.call(Journal, options);
    stretchJournals.push(journal);
    return journal;
  };
  try {
    const stretches: Stretch[] = [];
    for (let count = 0; count < MAX_STRETCHES; count++) {
      const before = await heads();
      const known = before.get(sessionLog(SESSION)) ?? 0;
      watchings = [];
      stretchJournals = [];
      try {
        run =
          count === 0
            ? runner.run("Go.", { session: SESSION, signal: signal.signal })
            : await runner.resume(SESSION, { signal: signal.signal });
      } catch (error) {
        if (count === 0 || known > 0) oddities.push(`resume was refused: ${String(error)}`);
        break;
      }
      for (const plan of story.watchers) watchings.push(watchAsPlanned(run, plan, undefined, rest));
      if (story.approvals.by === "iterator") follow("run.approvals()", takeQuestions(run));
      if (count === MAX_STRETCHES - 2) follow("the last abort", run.abort());
      await finish(run);
      const outcome = await run.outcome;
      for (const watching of watchings)
        if (!(await clock.passUntil(watching.done, PATIENCE_MS))) oddities.push("a watcher's stream does not end");
      stretches.push({ outcome, watchings, before, after: await heads(), journals: stretchJournals });
      const state = await foldSession(memory, blobs, SESSION);
      if (state.run?.status === "ended") break;
      if (outcome.waits && count < 3)
        for (const wait of outcome.waits) if ("token" in wait) await decideElsewhere(wait.token, wait.type === "decision");
    }
    for (const { what, promise } of pending) if (!(await clock.passUntil(promise, PATIENCE_MS))) oddities.push(`${what} is never answered`);
    const state = await foldSession(memory, blobs, SESSION);
    const open = { timers: clock.open, following: log.following };
    if (open.timers > 0) oddities.push(`${open.timers} timers are open`);
    if (open.following > 0) oddities.push(`${open.following} readers follow a log`);
    const records = new Map<LogId, readonly LogRecord[]>();
    for (const [id] of await heads()) records.set(id, await collect(memory, id));
    const next = state.run?.status === "ended" ? await anotherRun() : undefined;
    return {
      story,
      stretches,
      cast,
      log,
      clock,
      records,
      state,
      fold: (session) => foldSession(memory, blobs, session),
      listeners: signal.listeners,
      oddities,
      next,
    };
  } finally {
    Journal.open = openJournal;
  }

  /** Waits for a run; one that a tool or a person keeps waiting for good is aborted, and must end then. */
  async function finish(active: Run<unknown>): Promise<void> {
    if (await clock.passUntil(active.outcome, HOUR_MS)) return;
    follow("abort", active.abort());
    if (!(await clock.passUntil(active.outcome, PATIENCE_MS))) throw new Error("the run hangs");
  }

  async function heads(): Promise<ReadonlyMap<LogId, number>> {
    return new Map(
      (await memory.list({ prefix: "session/" })).filter((info) => !info.log.endsWith("/inbox")).map((info) => [info.log, info.head]),
    );
  }

  /** Whatever was told to a run that is over must not touch the next one. */
  async function anotherRun(): Promise<RunOutcome<unknown>> {
    const plain = createRunner({
      agent: cast.agent.with({ rules: [], limits: {}, instructions: "Be good.", model: "plain/model" }),
      models: plainModels(),
      log: memory,
      blobs,
      clock,
      owner: "another",
      newId: () => `next${++ids}`,
      random: () => 0.5,
    });
    const active = plain.run("And now?", { session: SESSION });
    if (!(await clock.passUntil(active.outcome, HOUR_MS))) oddities.push("another run of the session hangs");
    return active.outcome;
  }

  /** Remembers a promise of the run's interface, and that it may fail in the ways of the interface only. */
  function follow(what: string, promise: Promise<unknown>): void {
    const settled = promise.then(
      () => {},
      (error: unknown) => {
        if (!AgentError.is(error) && !LogError.is(error)) oddities.push(`${what} failed: ${String(error)}`);
      },
    );
    pending.push({ what, promise: settled });
  }

  function later(lag: Act["lag"], work: () => void): void {
    if (lag === 0) work();
    else if (lag === 1) queueMicrotask(work);
    else setImmediate(work);
  }

  function perform({ do: what }: Act): void {
    if (run === undefined) return;
    switch (what) {
      case "stop":
        return follow(what, run.stop());
      case "abort":
        return follow(what, run.abort("enough"));
      case "signal":
        return signal.abort();
      case "steer":
        return follow(what, run.steer("Rather this."));
      case "interrupt":
        return follow(what, run.steer("Stop that, rather this.", { interrupt: true }));
      case "set-model":
        return follow(what, run.setModel("other/model"));
      case "set-unknown-model":
        return follow(what, run.setModel("nobody/nothing"));
      case "watch":
      case "watch-past":
        watchings.push(watchAsPlanned(run, { after: what === "watch" ? undefined : 0, pace: 1_000, leavesAfter: undefined }, head, rest));
        return;
      case "leave":
        watchings.find((watching) => !watching.left)?.leave();
    }
  }

  function rest(): Promise<void> {
    return new Promise((resolve) => setImmediate(resolve));
  }

  function decisionFor(type: ApprovalRequest["type"], index = questions++): Decision | undefined {
    const { decisions } = story.approvals;
    const planned = decisions[Math.min(index, decisions.length - 1)] ?? "allow";
    if (planned === "throw") throw new Error("the approver failed");
    if (planned === "nothing" || planned === "hang") return undefined;
    if (planned === "nonsense") return { type: "perhaps" } as never;
    if (planned === "allow-modified")
      return { type: planned, input: (index % 2 === 0 ? { n: 5, task: "edited" } : "no object") as JsonValue };
    if (type === "approval") return planned === "deny" ? { type: "deny", reason: "no" } : ({ type: planned } as Decision);
    return planned === "retry" ? { type: "retry" } : planned === "allow" ? { type: "supply", output: "supplied" } : { type: "fail" };
  }

  function approver(request: ApprovalRequest): ReturnType<Approver> {
    const index = questions++;
    const { decisions } = story.approvals;
    if (decisions[Math.min(index, decisions.length - 1)] === "hang") return new Promise(() => {});
    const decision = decisionFor(request.type, index);
    return index % 2 === 0 ? decision : clock.sleep(100).then(() => decision);
  }

  async function takeQuestions(active: Run<unknown>): Promise<void> {
    let taken = 0;
    for await (const { request, decide } of active.approvals()) {
      const { decisions } = story.approvals;
      const planned = decisions[Math.min(taken, decisions.length - 1)];
      if (planned !== "throw") {
        const decision = decisionFor(request.type, taken);
        if (decision !== undefined)
          await decide(decision).catch((error: unknown) => {
            if (!AgentError.is(error) && !LogError.is(error)) oddities.push(`decide failed: ${String(error)}`);
          });
      }
      if (++taken >= story.approvals.leavesAfter) return;
    }
  }

  function onQuestion(_id: LogId, record: NewRecord): void {
    const { by, rival } = story.approvals;
    if (by !== "elsewhere" && !rival) return;
    const { token, question } = record.data as unknown as { readonly token: string; readonly question: ApprovalRequest["type"] };
    setImmediate(() => follow("runner.approve", decideElsewhere(token, question === "decision")));
  }

  async function decideElsewhere(token: string, unknown: boolean): Promise<void> {
    let decision: Decision | undefined;
    try {
      decision = decisionFor(unknown ? "decision" : "approval");
    } catch {
      return;
    }
    if (decision === undefined) return;
    try {
      await runner.approve(token, decision);
    } catch (error) {
      if (!AgentError.is(error, "invalid-token") && !AgentError.is(error, "invalid-option"))
        oddities.push(`runner.approve failed: ${String(error)}`);
    }
  }
}

async function collect(log: { read(id: LogId): AsyncIterable<LogRecord> }, id: LogId): Promise<readonly LogRecord[]> {
  const records: LogRecord[] = [];
  for await (const record of log.read(id)) records.push(record);
  return records;
}

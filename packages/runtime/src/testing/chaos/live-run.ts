import { LogError, sessionOf } from "@keelson/protocol";
import type { RunOutcome } from "../../agent/definition/run.ts";
import { outcomeOf } from "../../agent/runner/outcome.ts";
import { foldSession } from "../../session/fold-session.ts";
import { sessionLogs } from "../../session/session-logs.ts";
import type { SessionState } from "../../session/session-state.ts";
import { createMemoryBlobStore } from "../../state/memory/memory-blob-store.ts";
import { createMemoryBudgetLedger } from "../../state/memory/memory-budget-ledger.ts";
import { createMemoryEventLog } from "../../state/memory/memory-event-log.ts";
import { answerWaits, type AskedAbout } from "./answer-waits.ts";
import { headsOf, LEASE_TTL_MS, SESSION, startProcess, type RunWorld, type StartedProcess } from "./chaos-process.ts";
import type { ChaosEngine } from "./engine.ts";
import { planName, type PlannedFault } from "./fault.ts";
import { judgeStores } from "./judge-stores.ts";
import { randomNumbers } from "./random-numbers.ts";
import type { PlayedModels } from "./recorded-models.ts";
import type { ChaosScene, ChaosStores, ChaosTime } from "./scene.ts";
import { countSteps, type ChaosStep } from "./step.ts";
import { VirtualClock, type Activity } from "./virtual-clock.ts";
import { Witness, type Execution } from "./witness.ts";

/** Each fault ends at most one process; what more there are is for waits. */
const MAX_PROCESSES = 50;

export interface LiveOptions {
  readonly scene: ChaosScene;
  readonly engine: ChaosEngine;
  readonly models: PlayedModels;
  readonly plan: readonly PlannedFault[];
  readonly seed: string;
}

/** What a run came to, with all of its processes. */
export interface LivedRun {
  readonly steps: readonly ChaosStep[];
  /** The faults of the plan that befell it. */
  readonly befallen: readonly PlannedFault[];
  /** What must not be, as far as it shows in this run alone. */
  readonly problems: readonly string[];
  /** Absent: it did not end. */
  readonly outcome: RunOutcome<unknown> | undefined;
  /** How the runs ended that it started. */
  readonly childEnds: readonly string[];
  readonly executions: readonly Execution[];
  readonly unknown: readonly AskedAbout[];
  readonly world: unknown;
}

type Ended = "worked" | "failed" | "stopped" | "hangs";

/** Leads a run to its end, through as many processes as that takes. */
export async function liveRun({ scene, engine, models, plan, seed }: LiveOptions): Promise<LivedRun> {
  const clock = new VirtualClock();
  const witness = new Witness();
  const steps = countSteps();
  const dead = new Set<string>();
  const later: (() => Promise<unknown>)[] = [];
  const problems: string[] = [];
  const random = randomNumbers(`${seed} ${planName(plan)}`);
  let ids = 0;
  const world: RunWorld = {
    scene,
    engine,
    stores: storesOf(scene, { now: () => clock.now(), isDeadOwner: (owner) => dead.has(owner.split(":")[0] ?? "") }, clock),
    clock,
    witness,
    steps,
    models,
    plan,
    hand: {
      jump: (ms) => clock.jump(ms),
      later: (act) => void later.push(act),
      report: (problem) => void problems.push(problem),
      random,
    },
    newId: () => `id${++ids}`,
  };
  const processes: StartedProcess[] = [];
  const frozen: { readonly started: StartedProcess; readonly work: Promise<void> }[] = [];
  const unknown: AskedAbout[] = [];
  const answered = new Set<string>();
  const desk = startProcess(world, 0, false);
  const activity: Activity = {
    get busy() {
      return processes.some(({ disturbance }) => disturbance.underWay > 0) || witness.open > 0;
    },
    get count() {
      return processes.reduce((sum, { disturbance }) => sum + disturbance.changes, witness.executions.length - witness.open);
    },
  };
  try {
    await untilOver();
    for (const { started, work } of frozen) await wake(started, work);
    const state = await foldSession(world.stores.log, world.stores.blobs, SESSION);
    const isOver = state.run?.status === "ended";
    const befallen = [desk, ...processes].flatMap(({ disturbance }) => disturbance.befallen);
    const lostLeases = befallen.some(({ at }) => at.startsWith("acquire#"));
    problems.push(...witness.problems, ...(await judgeStores(world, { isOver, lastProcess: processes.length, dead, lostLeases })));
    const last = processes.at(-1);
    if (isOver && last !== undefined && last.disturbance.state === "working" && last.clock.open > 0)
      problems.push(`${last.clock.open} timers are left open`);
    return {
      steps: steps.taken,
      befallen,
      problems,
      childEnds: await childEnds(),
      outcome: isOver ? outcomeOf(state, { type: "done" }) : undefined,
      executions: witness.executions,
      unknown,
      world: await scene.world?.(),
    };
  } finally {
    for (const { disturbance, clock: own } of processes) {
      disturbance.kill();
      own.set("ended");
    }
    await world.stores.log[Symbol.asyncDispose]();
    await world.stores.blobs[Symbol.asyncDispose]();
  }

  async function untilOver(): Promise<void> {
    while (processes.length < MAX_PROCESSES) {
      const started = startProcess(world, processes.length + 1, true);
      processes.push(started);
      const work = engine.work(started.process);
      const { ended, error } = await endOf(started, work);
      if (ended === "hangs") return void problems.push(`process ${started.number} hangs: nothing is under way, and nothing will wake it`);
      if (ended === "stopped") leaveBehind(started, work);
      const { run } = await stateNow();
      if (run?.status === "ended") return;
      const wasBefallen = started.disturbance.befallen.length > 0;
      // The lease of a process that died before the clock was set back lies far ahead: the first refusal shortens it.
      const isRefused = clock.wasSetBack && isLeaseHeld(error);
      if (ended === "failed" && !wasBefallen && !isRefused)
        return void problems.push(`process ${started.number} failed, and nothing had befallen it: ${messageOf(error)}`);
      if (ended === "failed") clock.pass(LEASE_TTL_MS + 1);
      if (ended === "stopped" || ended === "failed") continue;
      if (later.length > 0) {
        for (const act of later.splice(0)) await act();
        continue;
      }
      const news = run?.status === "suspended" ? await answerWaits(world, desk, answered) : undefined;
      unknown.push(...(news?.unknown ?? []));
      if (news?.isNew) continue;
      if (wasBefallen) {
        clock.pass(LEASE_TTL_MS + 1);
        continue;
      }
      return void problems.push(stuck(run));
    }
    problems.push(`it is not over after ${MAX_PROCESSES} processes`);
  }

  async function endOf(started: StartedProcess, work: Promise<void>): Promise<{ readonly ended: Ended; readonly error?: unknown }> {
    const { disturbance } = started;
    let error: unknown;
    let failed = false;
    const settled = work.catch((reason: unknown) => {
      failed = true;
      error = reason;
    });
    const isSettled = await clock.until(Promise.race([settled, disturbance.stopped]), activity);
    // What it did last may still be under way: tools of a process that died, a lease that is given back.
    await clock.quiet(activity);
    if (disturbance.state !== "working") return { ended: "stopped" };
    if (!isSettled) return { ended: "hangs" };
    return failed ? { ended: "failed", error } : { ended: "worked" };
  }

  /** A process that died or stands still; its lease runs out. */
  function leaveBehind(started: StartedProcess, work: Promise<void>): void {
    if (started.disturbance.state === "frozen") {
      started.clock.set("frozen");
      frozen.push({ started, work });
    } else {
      started.clock.set("ended");
      dead.add(started.owner);
    }
    clock.pass(LEASE_TTL_MS + 1);
  }

  /** A process that stood still goes on, and must find that there is nothing left for it to do. */
  async function wake(started: StartedProcess, work: Promise<void>): Promise<void> {
    const before = await headsOf(world.stores.log);
    const isOver = (await stateNow()).run?.status === "ended";
    const executed = witness.executions.length;
    started.clock.set("working");
    started.disturbance.thaw();
    const settled = work.catch(() => {});
    const isSettled = await clock.until(settled, activity);
    await clock.quiet(activity);
    // Another fault of the plan may befall it now.
    if (!isSettled && started.disturbance.state === "working")
      problems.push(`process ${started.number}, which stood still for a while, hangs after it`);
    if (!isOver) return;
    for (const [log, head] of await headsOf(world.stores.log))
      // Anybody writes to an inbox, and what a snapshot says is checked by who reads it.
      if (sessionOf(log) !== undefined && head !== before.get(log))
        problems.push(`process ${started.number}, which stood still while another went on to the end, wrote to ${log} after it`);
    for (const { tool } of witness.executions.slice(executed))
      problems.push(`process ${started.number}, which stood still while another went on to the end, executed \`${tool}\` after it`);
  }

  async function childEnds(): Promise<readonly string[]> {
    const ends: string[] = [];
    for await (const { session } of sessionLogs(world.stores.log)) {
      const { run } = await foldSession(world.stores.log, world.stores.blobs, session);
      if (session !== SESSION && run?.end !== undefined) ends.push(run.end.reason);
    }
    return ends;
  }

  function stateNow(): Promise<SessionState> {
    return foldSession(world.stores.log, world.stores.blobs, SESSION);
  }
}

function stuck(run: SessionState["run"]): string {
  if (run === undefined) return "nothing was begun: the engine worked nothing";
  return run.status === "suspended"
    ? `it waits for what nobody answers: ${JSON.stringify(run.waits.map(({ type }) => type))}`
    : `the engine stopped working in turn ${run.turn}, and the run is neither over nor waiting: nobody would wake it`;
}

function isLeaseHeld(error: unknown): boolean {
  return error instanceof Error && (LogError.is(error, "lease-held") || isLeaseHeld(error.cause));
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function storesOf(scene: ChaosScene, time: ChaosTime, clock: VirtualClock): Required<ChaosStores> {
  const { log, blobs, ledger } = scene.stores?.(time) ?? {};
  const timer = clock.ofProcess();
  return {
    log: log ?? createMemoryEventLog({ now: time.now }),
    blobs: blobs ?? log?.blobs ?? createMemoryBlobStore(),
    ledger:
      ledger ??
      log?.ledger ??
      createMemoryBudgetLedger({
        now: time.now,
        isDeadOwner: time.isDeadOwner,
        poll(tick, everyMs) {
          let cancel = (): void => {};
          const again = (): void => {
            cancel = timer.after(
              everyMs,
              () => {
                tick();
                again();
              },
              { keepAlive: false },
            );
          };
          again();
          return () => cancel();
        },
      }),
  };
}

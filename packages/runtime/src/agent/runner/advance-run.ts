import { LogError, sessionLog, type SuspendReason, type Wait } from "@keelson/protocol";
import { atAgentBoundary } from "../../session/log-failure.ts";
import type { RunState } from "../../session/session-state.ts";
import type { RunOutcome } from "../definition/run.ts";
import type { RunnerInternals } from "./runner-internals.ts";
import type { Next } from "../loop/run-turns.ts";
import { hasNews } from "../turn/has-news.ts";
import { endOfTime } from "../turn/time-left.ts";
import { openSession, takeUpOpen, type OpenSession } from "./take-up-run.ts";

/** What an engine does next with a run. */
export type NextAdvance =
  | { readonly type: "now" }
  /** It waits for a time (what it waits for, or the end of its own), and perhaps for others: at `at`, Unix ms, or when something is written to its session. */
  | { readonly type: "at"; readonly at: number; readonly reason: SuspendReason; readonly waits: readonly Wait[] }
  /** It waits for others: when something is written to its session. */
  | { readonly type: "waiting"; readonly reason: SuspendReason; readonly waits: readonly Wait[] }
  | { readonly type: "done"; readonly outcome: RunOutcome<unknown> };

export interface Advanced {
  /** Where the session's log ends. */
  readonly seq: number;
  readonly next: NextAdvance;
}

/** Works at most one turn. Rejects only where the log, the lease or the orchestrator failed: what the run ends with is its outcome. */
export async function advanceRun(
  runner: RunnerInternals,
  session: string,
  { signal }: { readonly signal?: AbortSignal },
): Promise<Advanced> {
  return atAgentBoundary(session, async () => {
    signal?.throwIfAborted();
    const open = await openSession(runner, session);
    const { state } = open.journal;
    const waiting = await waitsStill(runner, open);
    if (waiting !== undefined) return { seq: state.seq, next: waiting };
    const active = await takeUpOpen(runner, open, { turns: 1, leavesWaiting: true });
    const letGo = (): void => active.detach(new LogError({ kind: "closed", message: "Whoever advanced the session let go of it." }));
    signal?.addEventListener("abort", letGo, { once: true });
    if (signal?.aborted) letGo();
    try {
      const outcome = await active.outcome;
      if (active.failure !== undefined) throw active.failure;
      return { seq: await runner.services.log.head(sessionLog(open.session)), next: nextOf(active.next, outcome, state.run) };
    } finally {
      signal?.removeEventListener("abort", letGo);
    }
  });
}

/** What a run still waits for: nothing is written then, and the session is given back. */
async function waitsStill(runner: RunnerInternals, { journal }: OpenSession): Promise<NextAdvance | undefined> {
  const { run } = journal.state;
  if (run?.status !== "suspended") return undefined;
  try {
    if (await hasNews(runner.services, journal.state)) return undefined;
  } catch (error) {
    await journal.close();
    throw error;
  }
  await journal.close();
  return waitFor(run, run.suspendReason ?? "awaiting-decision", run.waits);
}

function nextOf(next: Next, outcome: RunOutcome<unknown>, run: RunState | undefined): NextAdvance {
  if (next.type === "now") return { type: "now" };
  return next.type === "done" || outcome.waits === undefined ? { type: "done", outcome } : waitFor(run, outcome.reason, outcome.waits);
}

function waitFor(run: RunState | undefined, reason: SuspendReason, waits: readonly Wait[]): NextAdvance {
  const end = run && endOfTime(run);
  const times = waits.filter((wait) => wait.type === "timer").map(({ at }) => at);
  const at = Math.min(...times, end ?? Number.POSITIVE_INFINITY);
  return Number.isFinite(at) ? { type: "at", at, reason, waits } : { type: "waiting", reason, waits };
}

import { sessionLog, type SuspendReason, type Wait } from "@keelson/protocol";
import { atAgentBoundary } from "../../session/log-failure.ts";
import type { RunOutcome } from "../definition/run.ts";
import type { RunnerInternals } from "./runner-internals.ts";
import type { Next } from "../loop/run-turns.ts";
import { takeUpRun } from "./take-up-run.ts";

/** What an engine does next with a run. */
export type NextAdvance =
  | { readonly type: "now" }
  /** It waits for a time, and perhaps for others: at `at`, Unix ms, or when something is written to its session. */
  | { readonly type: "at"; readonly at: number; readonly reason: SuspendReason; readonly waits: readonly Wait[] }
  /** It waits for others: when something is written to its session. */
  | { readonly type: "waiting"; readonly reason: SuspendReason; readonly waits: readonly Wait[] }
  | { readonly type: "done"; readonly outcome: RunOutcome<unknown> };

export interface Advanced {
  /** Where the session's log ends. */
  readonly seq: number;
  readonly next: NextAdvance;
}

/** Works at most one turn. Rejects only where the log or the lease failed: what the run ends with is its outcome. */
export async function advanceRun(runner: RunnerInternals, session: string, options: { readonly signal?: AbortSignal }): Promise<Advanced> {
  const active = await atAgentBoundary(session, () => takeUpRun(runner, session, { ...options, turns: 1 }));
  const outcome = await active.outcome;
  if (active.failure !== undefined) throw active.failure;
  const seq = await atAgentBoundary(session, () => runner.services.log.head(sessionLog(session)));
  return { seq, next: nextOf(active.next, outcome) };
}

function nextOf(next: Next, outcome: RunOutcome<unknown>): NextAdvance {
  if (next.type === "now") return { type: "now" };
  if (next.type === "done" || outcome.waits === undefined) return { type: "done", outcome };
  const { reason, waits } = outcome;
  const times = waits.filter((wait) => wait.type === "timer").map(({ at }) => at);
  return times.length === 0 ? { type: "waiting", reason, waits } : { type: "at", at: Math.min(...times), reason, waits };
}

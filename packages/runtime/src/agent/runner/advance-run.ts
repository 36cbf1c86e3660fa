import { sessionLog, type RunId, type SessionId, type SuspendReason, type Wait } from "@keelson/protocol";
import { foldSession } from "../../session/fold-session.ts";
import { atAgentBoundary } from "../../session/log-failure.ts";
import type { Agent } from "../definition/agent.ts";
import type { RunInput, RunOptions, RunOutcome } from "../definition/run.ts";
import type { RunnerInternals } from "./runner-internals.ts";
import type { Next } from "../loop/run-turns.ts";
import { startRun } from "./start-run.ts";
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

export interface BeginOptions extends Omit<RunOptions, "session" | "signal"> {
  /** The same id again is the same run. Default: a new one. */
  readonly id?: string | undefined;
}

/** Writes the first records of a run, and works nothing of it. */
export async function beginOnly(
  runner: RunnerInternals,
  agent: Agent<unknown>,
  session: string,
  input: RunInput,
  { id: given, ...options }: BeginOptions,
): Promise<RunId> {
  const { log, blobs, newId } = runner.services;
  const id = (given ?? `r_${newId()}`) as RunId;
  const isBegun = async (): Promise<boolean> => given !== undefined && (await foldSession(log, blobs, session as SessionId)).run?.id === id;
  return atAgentBoundary(session, async () => {
    if (await isBegun()) return id;
    const run = startRun(runner, agent, input, { ...options, session }, { id, turns: 0 });
    await run.outcome;
    // Somebody else may have begun it in between, and work on it already.
    if (run.failure !== undefined && !(await isBegun())) throw run.failure;
    return id;
  });
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

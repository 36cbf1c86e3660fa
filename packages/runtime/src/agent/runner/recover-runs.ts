import { AgentError, LogError, type SessionId } from "@keelson/protocol";
import { foldSession } from "../../session/fold-session.ts";
import { agentErrorOf } from "../../session/log-failure.ts";
import { openSessions } from "../../session/session-logs.ts";
import type { Run } from "../definition/run.ts";
import type { RunnerServices } from "../turn/runner-services.ts";
import { wakeSession } from "../turn/wake-session.ts";
import { hasNews } from "../turn/has-news.ts";

/** What became of the runs that were left behind. */
export interface Recovery {
  /** Those that were taken up; the last of them are still at work. */
  readonly runs: readonly Run<unknown>[];
  /** Where the runner's orchestrator works runs elsewhere: those that it was told of. None is taken up here then. */
  readonly woken?: readonly SessionId[];
  /** Those that could not be: a damaged log, for one. */
  readonly failed: readonly { readonly session: SessionId; readonly error: AgentError }[];
}

export interface RecoveryOptions {
  /** Whether there is an agent of this name. */
  has(name: string): boolean;
  resume(session: string): Promise<Run<unknown>>;
  readonly concurrency: number;
}

/** Resumes, so many at a time, what nobody works on and what has something to do. */
export async function recoverRuns(services: RunnerServices, { has, resume, concurrency }: RecoveryOptions): Promise<Recovery> {
  const runs: Run<unknown>[] = [];
  const woken: SessionId[] = [];
  const isElsewhere = services.orchestrator?.wake !== undefined;
  const failed: { readonly session: SessionId; readonly error: AgentError }[] = [];
  const working = new Set<Promise<unknown>>();
  for (const session of await allOpenSessions(services)) {
    try {
      if (!(await canGoOn(services, session, has))) continue;
      if (isElsewhere) {
        await wakeSession(services, session);
        woken.push(session);
        continue;
      }
      if (working.size >= concurrency) await Promise.race(working);
      const run = await resume(session);
      runs.push(run);
      const done: Promise<unknown> = run.outcome.finally(() => working.delete(done));
      working.add(done);
    } catch (error) {
      // Somebody works on it.
      if (AgentError.is(error, "session") && LogError.is(error.cause, "lease-held")) continue;
      failed.push({ session, error: agentErrorOf(session, error) });
    }
  }
  return { runs, failed, ...(isElsewhere && { woken }) };
}

/** Before any of them is touched: a log that can't say which there are fails with nothing begun. */
async function allOpenSessions({ log }: RunnerServices): Promise<readonly SessionId[]> {
  const ids: SessionId[] = [];
  try {
    for await (const session of openSessions(log)) ids.push(session);
  } catch (error) {
    throw agentErrorOf("*" as SessionId, error);
  }
  return ids;
}

/** Whether the newest run of a session is not over and does not wait for what nobody has said yet. A child is resumed by its parent, or works elsewhere by itself. */
async function canGoOn(services: RunnerServices, session: SessionId, has: RecoveryOptions["has"]): Promise<boolean> {
  const state = await foldSession(services.log, services.blobs, session);
  const { run } = state;
  if (run === undefined || run.status === "ended" || !has(run.agent)) return false;
  if (run.parent !== undefined && services.orchestrator?.wake === undefined) return false;
  return run.status === "working" || hasNews(services, state);
}

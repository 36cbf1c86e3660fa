import { DirectiveError, parseDuration, type Authority, type SessionId } from "@keelson/protocol";
import type { Agent } from "../../agent/definition/agent.ts";
import type { RunnerInternals } from "../../agent/runner/runner-internals.ts";
import type { RunnerServices } from "../../agent/turn/runner-services.ts";
import { shortHash } from "../../json/digest.ts";
import { foldSession } from "../../session/fold-session.ts";
import { CHILD_MARK, checkSessionId } from "../../session/session-id.ts";
import { readCron } from "./cron-instants.ts";
import type { ScheduleId, ScheduleRequest } from "./scheduler.ts";
import type { ScheduleTerms } from "./schedule-state.ts";

/** The same session and key are the same schedule. */
export function scheduleIdOf(session: string, key: string): ScheduleId {
  return `s_${shortHash(JSON.stringify([session, key]))}` as ScheduleId;
}

/**
 * Checks a request and settles what it leaves open.
 * Rejects with `DirectiveError` `execution-failed` that says what is wrong with it
 */
export async function scheduleTerms(request: ScheduleRequest, inner: RunnerInternals, now: number): Promise<ScheduleTerms> {
  const { session, action, key, missed = "each", delay, at, cron, timeZone } = request;
  const refused = (message: string, cause?: unknown): DirectiveError =>
    new DirectiveError({ kind: "execution-failed", directive: cron === undefined ? "schedule" : "cron", message }, { cause });

  for (const [name, value] of Object.entries({ session, action, key }))
    if (typeof value !== "string" || value.trim() === "" || !value.isWellFormed())
      throw refused(`A schedule needs a ${name} that is a text and not empty, not ${JSON.stringify(value)}.`);
  if (session.includes(CHILD_MARK))
    throw refused(`"${session}" is the session of a child run, in which nothing begins by itself: schedule in that of the run above it.`);
  try {
    checkSessionId(session);
  } catch (cause) {
    throw refused(cause instanceof Error ? cause.message : String(cause), cause);
  }
  if (!["each", "latest", "skip"].includes(missed)) throw refused(`missed is "each", "latest" or "skip", not ${JSON.stringify(missed)}.`);
  const given = Object.entries({ delay, at, cron }).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  if (given.length !== 1)
    throw refused(`A schedule needs one of delay, at and cron; it was given ${given.length === 0 ? "none" : given.join(" and ")}.`);
  if (timeZone !== undefined && cron === undefined) throw refused("timeZone goes with cron: a delay and a time mean the same everywhere.");

  const agent = await agentFor(request, inner, refused);
  const { deadline: _deadline, ...authority } = request.authority ?? {};
  const common = {
    id: scheduleIdOf(session, key),
    session: session as SessionId,
    agent,
    action,
    key,
    missed,
    ...(request.authority && { authority: authority as Authority }),
  };
  if (cron !== undefined) {
    const zone = timeZone ?? "UTC";
    if ((await readCron(cron, zone)).next(now) === undefined)
      throw refused(`The cron expression ${JSON.stringify(cron)} names no time that is still to come.`);
    return { ...common, cron, timeZone: zone };
  }
  if (delay !== undefined) return { ...common, at: now + Math.ceil(durationOf(delay, refused)) };
  if (!Number.isSafeInteger(at)) throw refused(`at is a time in whole Unix milliseconds, not ${JSON.stringify(at)}.`);
  return { ...common, at: at as number };
}

type Refused = (message: string, cause?: unknown) => DirectiveError;

function durationOf(delay: string, refused: Refused): number {
  try {
    return parseDuration(delay);
  } catch (cause) {
    throw refused(cause instanceof Error ? cause.message : String(cause), cause);
  }
}

async function agentFor({ session, agent }: ScheduleRequest, inner: RunnerInternals, refused: Refused): Promise<string> {
  if (agent !== undefined) {
    if (inner.find(agent) === undefined) throw refused(`The runner has no agent ${JSON.stringify(agent)}.`);
    return agent;
  }
  const { agent: only } = inner.services as RunnerServices & { readonly agent?: Agent<unknown> };
  if (only !== undefined) return only.name;
  const { run } = await foldSession(inner.services.log, inner.services.blobs, session as SessionId);
  if (run === undefined || inner.find(run.agent) === undefined)
    throw refused(
      `Say which agent works at the times of this schedule: the runner has several, and session "${session}" has no run of one of them.`,
    );
  return run.agent;
}

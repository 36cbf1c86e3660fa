import { AgentError, DirectiveError, inboxLog, LogError, sessionLog, type JsonObject, type RunId, type Signal } from "@keelson/protocol";
import type { Run } from "../../agent/definition/run.ts";
import type { RunnerInternals } from "../../agent/runner/runner-internals.ts";
import { shortHash } from "../../json/digest.ts";
import { foldSession } from "../../session/fold-session.ts";
import { inboxRecord } from "../../session/inbox-record.ts";
import type { ScheduleTerms } from "./schedule-state.ts";

/** What became of a fired instant: a run read its signal or was started for it, or one that could still read it is in the way. */
export type Delivery = { readonly isDone: boolean; readonly run?: Run<unknown> };

/**
 * Puts the signal of an instant into its session's inbox. Doing so again, here or elsewhere, changes nothing.
 * @returns its place in the inbox
 */
export async function signalSession({ services }: RunnerInternals, terms: ScheduleTerms, at: number): Promise<number> {
  const signal: Signal = { kind: "timer", payload: payloadOf(terms, at) };
  const record = inboxRecord(`timer/${terms.id}/${at}`, { type: "signal", signal });
  const { seq } = await services.log.append(inboxLog(terms.session), "any", [record], { durability: services.durability ?? "power" });
  return seq;
}

/**
 * Sees to it that the signal reaches a run. One that is at work, or waits for a person, reads it by itself: asked again, this
 * finds out. One that waits for a signal or a time is taken up. Where there is none, or it ended without reading, one is started,
 * under an id that follows from the instant.
 */
export async function deliver(inner: RunnerInternals, terms: ScheduleTerms, at: number, entry: number): Promise<Delivery> {
  const { log, blobs } = inner.services;
  const id = runIdOf(terms, at);
  const state = await foldSession(log, blobs, terms.session);
  if (await wasTaken(inner, terms, id, entry)) return DONE;
  const { run } = state;
  if (run !== undefined && run.status !== "ended") {
    const isWaiting = run.suspendReason === "awaiting-signal" || run.suspendReason === "awaiting-timer";
    if (run.status !== "suspended" || !isWaiting || entry <= run.inboxBase || run.parent !== undefined) return PENDING;
    return { isDone: false, run: await inner.resume(terms.session) };
  }
  const agent = inner.find(terms.agent);
  if (agent === undefined)
    throw new DirectiveError({
      kind: "execution-failed",
      directive: terms.cron === undefined ? "schedule" : "cron",
      message: `The schedule ${terms.id} of session "${terms.session}" starts the agent "${terms.agent}", which this runner does not have.`,
    });
  // The metadata tells the run which signal it needs not be told again.
  const started = inner.start(
    agent,
    terms.action,
    { session: terms.session, metadata: { timer: payloadOf(terms, at) } },
    { id, ...(terms.authority && { authority: terms.authority }) },
  );
  return (await hasBegun(started)) ? { isDone: true, run: started } : PENDING;
}

const DONE: Delivery = { isDone: true };
const PENDING: Delivery = { isDone: false };

/** Whether somebody else is at work there: no failure, it has to be tried again. */
export function isInUse(error: unknown): boolean {
  return AgentError.is(error, "session") && (error.cause === undefined || LogError.is(error.cause, "lease-held"));
}

function payloadOf({ id, action }: ScheduleTerms, at: number): JsonObject {
  return { action, scheduledAt: at, scheduleId: id };
}

function runIdOf({ id }: ScheduleTerms, at: number): RunId {
  return `r_${shortHash(`${id}/${at}`)}` as RunId;
}

/** Whether a run was told, or one was started for it. One that began after the signal and has a route for it was not told. */
async function wasTaken({ services }: RunnerInternals, { session }: ScheduleTerms, id: RunId, entry: number): Promise<boolean> {
  for await (const { key, type, data } of services.log.read(sessionLog(session))) {
    if (key === `${id}/start`) return true;
    if (type === "steer" && key.endsWith(`/inbox/${entry}`)) return true;
    if (type !== "inbox-read" || data["upTo"] !== entry) continue;
    if ((data["signal"] as { readonly action: string } | undefined)?.action !== "late") return true;
  }
  return false;
}

/** Resolves when the run's first records are in the log, or when it is plain that they will not be. */
async function hasBegun(run: Run<unknown>): Promise<boolean> {
  for await (const event of run.events()) if (event.type === "run-start") return true;
  const { error } = await run.outcome;
  if (error === undefined || isInUse(error)) return false;
  throw error;
}

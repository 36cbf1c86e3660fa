import { inboxLog, type InboxMessage, type SessionId } from "@keelson/protocol";
import { foldSession } from "../../../session/fold-session.ts";
import { inboxRecord } from "../../../session/inbox-record.ts";
import type { SessionState } from "../../../session/session-state.ts";
import type { RunnerServices } from "../../turn/runner-services.ts";
import { wakeSession } from "../../turn/wake-session.ts";
import { hasEndedWell } from "./background-report.ts";
import type { LiveRun } from "../../turn/live-run.ts";

/** What a run gives whoever acts on one of its children. */
export interface Supervision {
  readonly services: RunnerServices;
  readonly state: SessionState | undefined;
  /** Its children at work in this process. */
  readonly live: ReadonlyMap<string, LiveRun>;
  /** Writes to the inbox of the run. @returns whether it can still read it */
  tell(message: InboxMessage): Promise<boolean>;
}

/**
 * Ends one child or task, at any depth, and leaves the others at work. What it had reaches whoever started it, as the failure that it
 * is.
 * @returns whether it was open
 */
export async function stopChild(id: string, { services, state, live, tell }: Supervision): Promise<boolean> {
  const own = state?.run?.children?.all.get(id);
  if (own === undefined) return stopBelow(id, services, state);
  if (own.status !== "working") return false;
  if (own.background !== undefined) return tell({ type: "supervise", action: "stop", child: id });
  const child = live.get(id);
  if (child) await child.stop();
  else await write(services, own.session as SessionId, { type: "stop" });
  return true;
}

/**
 * Has an agent that worked beside the turns and failed go on where it stopped, under a new id in the same session.
 * @returns whether there is such a one, and the run can still wait for it
 */
export async function retryChild(id: string, { state, tell }: Supervision): Promise<boolean> {
  const child = state?.run?.children?.all.get(id);
  if (child?.kind !== "agent" || child.background === undefined) return false;
  if (child.status === "working" || hasEndedWell({ reason: child.status })) return false;
  return tell({ type: "supervise", action: "retry", child: id });
}

/** A child of a child: the run that started it need not be at work in this process. */
async function stopBelow(id: string, services: RunnerServices, state: SessionState | undefined): Promise<boolean> {
  for (const { session, status } of state?.run?.children?.all.values() ?? []) {
    if (session === undefined || status !== "working") continue;
    const below = await foldSession(services.log, services.blobs, session);
    const found = below.run?.children?.all.get(id);
    if (found === undefined) {
      if (await stopBelow(id, services, below)) return true;
      continue;
    }
    if (found.status !== "working") return false;
    if (found.background === undefined) await write(services, found.session as SessionId, { type: "stop" });
    else await write(services, session, { type: "supervise", action: "stop", child: id });
    return true;
  }
  return false;
}

async function write(services: RunnerServices, session: SessionId, message: InboxMessage): Promise<void> {
  const { log, durability = "power" } = services;
  await log.append(inboxLog(session), "any", [inboxRecord(`${message.type}/${services.newId()}`, message)], { durability });
  await wakeSession(services, session);
}

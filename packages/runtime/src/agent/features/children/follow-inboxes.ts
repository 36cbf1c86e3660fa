import { inboxLog, type SessionId } from "@keelson/protocol";
import { foldSession } from "../../../session/fold-session.ts";
import type { RunnerServices } from "../../turn/runner-services.ts";

/**
 * Resolves when something new is written to one of these sessions, which wait, or to a child that one of them waits for; also
 * when `signal` fires.
 */
export async function followInboxes(
  services: Pick<RunnerServices, "log" | "blobs">,
  sessions: readonly SessionId[],
  signal: AbortSignal,
): Promise<void> {
  const waiting = await Promise.all(sessions.map((session) => waitingSessions(services, session)));
  if (signal.aborted) return;
  await Promise.race(waiting.flat().map((each) => firstEntry(services, each, signal)));
}

interface WaitingSession {
  readonly session: SessionId;
  readonly inboxRead: number;
}

/** A session whose run is not over, and those of its children, theirs, and so on. */
export async function waitingSessions(
  { log, blobs }: Pick<RunnerServices, "log" | "blobs">,
  session: SessionId,
): Promise<readonly WaitingSession[]> {
  const { inboxRead, run } = await foldSession(log, blobs, session);
  const found: WaitingSession[] = [{ session, inboxRead }];
  for (const child of run?.children?.all.values() ?? [])
    if (child.session !== undefined && child.status === "working") found.push(...(await waitingSessions({ log, blobs }, child.session)));
  return found;
}

async function firstEntry(
  { log }: Pick<RunnerServices, "log">,
  { session, inboxRead }: WaitingSession,
  signal: AbortSignal,
): Promise<void> {
  for await (const _entry of log.read(inboxLog(session), { after: inboxRead, follow: true, signal })) return;
}

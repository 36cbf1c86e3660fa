import { inboxLog, sessionLog, type BlobStore, type EventLog, type SessionId } from "@keelson/protocol";
import { isDue } from "../../agent/turn/has-news.ts";
import type { Clock } from "../../platform/clock.ts";
import { foldSession } from "../../session/fold-session.ts";
import type { SessionState } from "../../session/session-state.ts";

/** A timer that is due within so many ms is waited for. */
const SOON_MS = 10_000;

interface Place {
  readonly session: SessionId;
  /** What stands there by now: there is more to come. */
  readonly seq: number;
}

interface Looking {
  readonly log: EventLog;
  readonly blobs: BlobStore;
  readonly clock: Clock;
}

/**
 * Resolves once the run of a session is over, or waits and nothing was said to it: neither it nor any child below it has anything to
 * go on with, but for a timer far away. Rejects with the reason of `signal`, and says what it waited for.
 */
export async function settleSession(services: Looking, session: string, signal: AbortSignal): Promise<void> {
  for (;;) {
    const busy = await findBusy(services, await look(services, session as SessionId));
    if (busy === undefined) return;
    for await (const _record of services.log.read(sessionLog(busy.session), { after: busy.seq, follow: true, signal })) break;
    if (signal.aborted)
      throw new Error(`Nothing came behind record ${busy.seq} of session "${busy.session}", which is neither over nor waits for anybody.`, {
        cause: signal.reason,
      });
  }
}

/** A session, this one or below it, of which more is to come. */
async function findBusy(services: Looking, state: SessionState): Promise<Place | undefined> {
  const { log, clock } = services;
  const { id, run, seq, inboxRead } = state;
  const here: Place = { session: id, seq };
  if (run === undefined || run.status === "working") return here;
  if (run.status === "ended") return undefined;
  for (const child of run.children?.all.values() ?? []) {
    if (child.session === undefined || child.status !== "working") continue;
    const below = await look(services, child.session);
    if (below.run?.id === child.id && below.run.status === "ended") return here;
    const busy = await findBusy(services, below);
    if (busy !== undefined) return busy;
  }
  if ((await log.head(inboxLog(id))) > inboxRead) return here;
  return run.waits.some((wait) => isDue(wait, clock.now() + (wait.type === "timer" ? SOON_MS : 0))) ? here : undefined;
}

async function look({ log, blobs }: Looking, session: SessionId): Promise<SessionState> {
  return foldSession(log, blobs, session);
}

import type { SessionId } from "@keelson/protocol";
import { agentErrorOf } from "../../../session/log-failure.ts";
import { CHILD_MARK } from "../../../session/session-id.ts";
import { openSessions } from "../../../session/session-logs.ts";
import type { RunnerInternals } from "../runner-internals.ts";
import type { RehearseOptions } from "./rehearse-options.ts";
import { rehearseSession } from "./rehearse-session.ts";
import type { RehearsedSession } from "./rehearsed-session.ts";

/** One session after another, so that memory holds no more than the longest of them. */
export async function* rehearseSessions(
  runner: RunnerInternals,
  { sessions, signal }: RehearseOptions,
): AsyncGenerator<RehearsedSession, void, undefined> {
  const given = sessions === undefined ? undefined : [...sessions];
  for await (const session of given ?? ownSessions(runner)) {
    signal?.throwIfAborted();
    const found = await rehearseSession(runner, session as SessionId);
    if (found !== undefined) yield found;
    else if (given !== undefined) yield over(session as SessionId);
  }
}

/** A child is taken up by its parent, and rehearsed with it, unless it works elsewhere by itself. */
async function* ownSessions({ services: { log, orchestrator } }: RunnerInternals): AsyncGenerator<SessionId> {
  const isElsewhere = orchestrator?.wake !== undefined;
  try {
    for await (const session of openSessions(log)) if (isElsewhere || !session.includes(CHILD_MARK)) yield session;
  } catch (error) {
    throw agentErrorOf("*" as SessionId, error);
  }
}

function over(session: SessionId): RehearsedSession {
  return { session, verdict: "goes-on", reason: "it has no run that is not over", changed: false, isSafe: true };
}

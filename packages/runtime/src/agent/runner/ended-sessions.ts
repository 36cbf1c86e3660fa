import { sessionLog, type EventLog, type SessionId } from "@keelson/protocol";
import { CHILD_MARK } from "../../session/session-id.ts";
import type { Sessions } from "../../session/sessions.ts";

/** Which sessions a log in memory may let go of. */
export interface EndedSessions {
  /** A run in a session that nobody named is over. */
  ended(session: SessionId): Promise<void>;
  /** Somebody speaks of this session: it stays. */
  keep(session: string): void;
}

/**
 * Lets go of sessions that are over and that nobody named, beyond the newest `kept`, with their inboxes and children. For a
 * log that is lost with its process: a server that works on one question a session would fill its memory with them.
 */
export function forgetEndedSessions(log: EventLog, kept: number): EndedSessions {
  const over: SessionId[] = [];
  const spokenOf = new Set<string>();
  return {
    async ended(session) {
      over.push(session);
      // Twice as many before a sweep, so that a run does not pay for one.
      if (over.length < 2 * kept) return;
      for (const session of over.splice(0, over.length - kept)) if (!spokenOf.delete(session)) await forget(log, session);
    },
    keep: (session) => void spokenOf.add(session),
  };
}

/** The sessions of a runner, with those noted that somebody speaks of. */
export function notingSessions(sessions: Sessions, { keep }: EndedSessions): Sessions {
  return {
    ...sessions,
    fork: (id, options) => (keep(id), sessions.fork(id, options)),
    rename: (id, name) => (keep(id), sessions.rename(id, name)),
    tag: (id, tag) => (keep(id), sessions.tag(id, tag)),
  };
}

async function forget(log: EventLog, session: SessionId): Promise<void> {
  const own = sessionLog(session);
  for (const { log: found } of await log.list({ prefix: own })) {
    if (found === own || found.startsWith(`${own}/`) || found.startsWith(`${own}${CHILD_MARK}`)) await log.delete(found);
  }
}

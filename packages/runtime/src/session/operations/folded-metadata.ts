import { LogError, sessionLog, type SessionId, type SessionMetadata } from "@keelson/protocol";
import { foldReadable } from "../fold-session.ts";
import { agentErrorOf, isOfOneSession } from "../log-failure.ts";
import { sessionMetadata } from "../session-metadata.ts";
import { sessionSummary } from "../session-summary.ts";
import type { SessionsOptions } from "../sessions-options.ts";

/** For a session whose log keeps no summary: one that was forked just now, or that an earlier version left. From now on it does. */
export async function foldedMetadata({ log, blobs }: Pick<SessionsOptions, "log" | "blobs">, session: SessionId): Promise<SessionMetadata> {
  const { state, damage } = await foldReadable(log, blobs, session);
  if (damage !== undefined) {
    if (!isOfOneSession(damage)) throw damage;
    return { ...sessionMetadata(state), damaged: agentErrorOf(session, damage).message };
  }
  try {
    await log.append(sessionLog(session), state.seq, [], { summary: sessionSummary(state) });
  } catch (error) {
    // The list is right without it. Whoever was faster has appended a summary of their own.
    if (!LogError.is(error)) throw error;
  }
  return sessionMetadata(state);
}

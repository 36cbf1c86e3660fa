import { isFinal, sessionLog, type EventLog, type SessionId } from "@keelson/protocol";

/** Resolves when the newest run of a session is over, wherever it is worked, or `signal` fires. */
export async function followEnd(log: EventLog, session: SessionId, signal: AbortSignal): Promise<void> {
  const head = await log.head(sessionLog(session));
  for await (const { type } of log.read(sessionLog(session), { after: Math.max(0, head - 1), follow: true, signal }))
    if (isFinal({ type })) return;
}

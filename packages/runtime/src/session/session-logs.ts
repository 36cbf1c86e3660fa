import { sessionOf, type EventLog, type LogInfo, type SessionId } from "@keelson/protocol";
import { mayHaveOpenRun } from "./session-summary.ts";

/** The sessions of a log that may have a run that is not over: the others need not be read to know that nothing is open in them. */
export async function* openSessions(log: EventLog): AsyncGenerator<SessionId> {
  for await (const { session, info } of sessionLogs(log)) if (mayHaveOpenRun(info)) yield session;
}

/** All sessions of a log, with what its list tells of them. */
export async function* sessionLogs(log: EventLog): AsyncGenerator<{ readonly session: SessionId; readonly info: LogInfo }> {
  const prefix = "session/";
  let after: string | undefined;
  for (;;) {
    const page = await log.list({ prefix, limit: 500, ...(after !== undefined && { after }) });
    for (const info of page) {
      const session = sessionOf(info.log);
      if (session !== undefined) yield { session, info };
    }
    after = page.at(-1)?.log;
    if (page.length < 500) return;
  }
}

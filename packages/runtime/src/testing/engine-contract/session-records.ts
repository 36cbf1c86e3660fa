import { sessionLog, type EventLog, type LogRecord, type SessionId } from "@keelson/protocol";

/** The records of a session, and of the children that its runs started, in the order in which they did. */
export interface SessionRecords {
  readonly session: string;
  readonly records: readonly LogRecord[];
  readonly children: readonly SessionRecords[];
}

export async function readSessionRecords(log: EventLog, session: string): Promise<SessionRecords> {
  const records: LogRecord[] = [];
  for await (const record of log.read(sessionLog(session as SessionId))) records.push(record);
  const below = new Set(records.filter(({ type }) => type === "child-start").map(({ data }) => data["session"] as string));
  const children: SessionRecords[] = [];
  for (const child of below) children.push(await readSessionRecords(log, child));
  return { session, records, children };
}

import { sessionLog, type LogInfo, type SessionId } from "@keelson/protocol";
import { textRelevance } from "../../state/kit/text-relevance.ts";
import { isOfOneSession } from "../log-failure.ts";
import { restoreLargeRecord } from "../large-records.ts";
import { recordText } from "../record-text.ts";
import { CHILD_MARK } from "../session-id.ts";
import { sessionLogs } from "../session-logs.ts";
import { hitOf, type Search, type SessionHit, type SessionSearch } from "./session-search.ts";

/** Reads the sessions that changed last, as many as may be read, and keeps the best of what fits. */
export async function searchByReading(search: Search): Promise<SessionSearch> {
  const { limit, maxRecords, signal } = search;
  const logs = await logsOf(search);
  let best: SessionHit[] = [];
  let left = maxRecords;
  let whole = 0;
  for (const { session } of logs) {
    signal?.throwIfAborted();
    if (left <= 0) break;
    const { hits, read, isWhole } = await readSession(search, session, left);
    best = [...best, ...hits].toSorted((a, b) => b.score - a.score || b.at - a.at).slice(0, limit);
    left -= read;
    if (isWhole) whole++;
  }
  if (whole === logs.length) return { hits: best, by: "reading" };
  const incomplete = `The log keeps no index, and of ${logs.length} sessions ${whole} were read to their end, those that changed last first. Name a session, or let more than ${maxRecords} records be read (maxRecords).`;
  return { hits: best, by: "reading", incomplete };
}

interface SessionToRead {
  readonly session: SessionId;
  readonly info: LogInfo;
}

async function logsOf({ services, session: wanted, children }: Search): Promise<readonly Pick<SessionToRead, "session">[]> {
  if (wanted !== undefined) return [{ session: wanted }];
  const logs: SessionToRead[] = [];
  for await (const { session, info } of sessionLogs(services.log))
    if (children || !session.includes(CHILD_MARK)) logs.push({ session, info });
  return logs.toSorted((a, b) => b.info.updatedAt - a.info.updatedAt);
}

async function readSession(search: Search, session: SessionId, most: number) {
  const { services, words, limit } = search;
  let hits: SessionHit[] = [];
  let read = 0;
  try {
    for await (const stored of services.log.read(sessionLog(session))) {
      if (read >= most) return { hits, read, isWhole: false };
      read++;
      const record = await restoreLargeRecord(stored, services.blobs).catch(() => stored);
      const score = textRelevance(recordText(record), words);
      if (score > 0) hits.push(hitOf(search, session, record, score));
      // What is held does not grow with the session.
      if (hits.length >= 4 * limit + 100) hits = hits.toSorted((a, b) => b.score - a.score).slice(0, limit);
    }
    return { hits, read, isWhole: true };
  } catch (error) {
    if (!isOfOneSession(error)) throw error;
    return { hits, read, isWhole: false };
  }
}

import { AgentError, sessionLog, sessionOf, type LogId, type LogIndex, type SessionId } from "@keelson/protocol";
import { wordsOf } from "../../state/kit/searchable-text.ts";
import { atAgentBoundary, isOfOneSession } from "../log-failure.ts";
import { restoreLargeRecord } from "../large-records.ts";
import { sessionError } from "../session-error.ts";
import { CHILD_MARK } from "../session-id.ts";
import type { SessionsOptions } from "../sessions-options.ts";
import { bringUpToDate } from "./index-sessions.ts";
import { searchByReading } from "./search-by-reading.ts";
import { hitOf, type Search, type SessionHit, type SessionSearch } from "./session-search.ts";

/** Where the log is on another machine, each takes a round trip. */
const READ_AT_ONCE = 8;

export interface SessionSearchOptions {
  /** How many hits. Default 20. */
  readonly limit?: number | undefined;
  /** Only in this one. Default: in all. */
  readonly session?: string | undefined;
  /** With the sessions of child runs. Default false; they count where one of them is named. */
  readonly children?: boolean | undefined;
  /** How many records may be read for it, where the log has no index or it lacks some. Default 20,000. */
  readonly maxRecords?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export async function searchSessions(services: SessionsOptions, query: string, options: SessionSearchOptions = {}): Promise<SessionSearch> {
  const searching = atAgentBoundary(options?.session ?? "*", async () => {
    const search = searchOf(services, query, options);
    const { log } = services;
    if (search.session !== undefined && (await log.head(sessionLog(search.session))) === 0)
      throw sessionError(search.session, `There is no session "${search.session}".`);
    const { index } = log;
    if (search.words.length === 0 || search.limit === 0) return { hits: [], by: index === undefined ? "reading" : "index" } as const;
    return index === undefined ? searchByReading(search) : searchByIndex(search, index);
  });
  try {
    return await searching;
  } catch (error) {
    throw options.signal?.aborted ? options.signal.reason : error;
  }
}

function searchOf(services: SessionsOptions, query: string, options: SessionSearchOptions): Search {
  const { limit = 20, session, maxRecords = 20_000, children = session !== undefined, signal } = options;
  signal?.throwIfAborted();
  if (typeof query !== "string") throw invalid("query", `What is searched for must be text, not ${typeof query}.`);
  for (const [option, count] of Object.entries({ limit, maxRecords }))
    if (!Number.isSafeInteger(count) || count < 0) throw invalid(option, `${option} must be a whole number from 0, not ${String(count)}.`);
  return { services, query, words: wordsOf(query), limit, session: session as SessionId | undefined, children, maxRecords, signal };
}

async function searchByIndex(search: Search, index: LogIndex): Promise<SessionSearch> {
  const { query, limit, session, signal } = search;
  const isComplete = await bringUpToDate(search, index);
  const hits: SessionHit[] = [];
  for (let offset = 0, size = limit; hits.length < limit; offset += size, size *= 2) {
    signal?.throwIfAborted();
    const matches = await index.search(query, { limit: size, offset, ...(session !== undefined && { log: sessionLog(session) }) });
    for (let next = 0; next < matches.length && hits.length < limit; next += READ_AT_ONCE) {
      const read = matches.slice(next, next + READ_AT_ONCE).map(({ log, seq, score }) => hitAt(search, log, seq, score));
      for (const hit of await Promise.all(read)) if (hit !== undefined && hits.length < limit) hits.push(hit);
    }
    if (matches.length < size) break;
  }
  if (isComplete) return { hits, by: "index" };
  const incomplete = "Sessions of an earlier version are not all in the index yet. Search again: each search adds some of them.";
  return { hits, by: "index", incomplete };
}

/** Nothing where it is of a child, was deleted meanwhile, or can't be read any more. */
async function hitAt(search: Search, log: LogId, seq: number, score: number): Promise<SessionHit | undefined> {
  const session = sessionOf(log);
  if (session === undefined || (!search.children && session.includes(CHILD_MARK))) return undefined;
  try {
    for await (const record of search.services.log.read(log, { after: seq - 1 }))
      return hitOf(search, session, await restoreLargeRecord(record, search.services.blobs), score);
  } catch (error) {
    if (!isOfOneSession(error)) throw error;
  }
  return undefined;
}

function invalid(option: string, message: string): AgentError {
  return new AgentError({ kind: "invalid-option", option, message });
}

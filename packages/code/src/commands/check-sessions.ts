import { AgentError, type EventLog, inboxLog, LogError, sessionLog, sessionOf } from "@keelson/protocol";
import { checkLog } from "keelson/security";
import { checkSqliteDatabase } from "keelson/state";
import type { CodingRunner } from "../core/coding-runner.ts";
import type { Stores } from "../core/stores.ts";

export interface CheckedSession {
  readonly session: string;
  readonly records: number;
  /** In words. Empty: nothing is wrong with it. */
  readonly problems: readonly string[];
}

export interface CheckedStores {
  /** What SQLite finds in its pages and indexes. */
  readonly database: readonly string[];
  readonly sessions: readonly CheckedSession[];
}

/** Reads the database, and every session or one, from beginning to end: their records, what they fold to, and the large values that they need. */
export async function checkSessions(stores: Stores, runner: CodingRunner, id?: string): Promise<CheckedStores> {
  const sessions: CheckedSession[] = [];
  for await (const session of id === undefined ? allSessions(stores.log) : [id]) sessions.push(await checkSession(stores, runner, session));
  return { database: checkSqliteDatabase(stores.home.database), sessions };
}

export async function checkSession(stores: Stores, { sessions }: CodingRunner, session: string): Promise<CheckedSession> {
  const problems: string[] = [];
  let records = 0;
  for (const log of [sessionLog(session), inboxLog(session)]) {
    const check = await checkLog(stores.log, log);
    records += check.records;
    problems.push(...check.problems.map(({ message }) => message));
  }
  if (problems.length === 0) {
    try {
      // Every record, as one that is forked has them: snapshots are not asked.
      for await (const _event of sessions.events(session)) continue;
      await sessions.get(session);
    } catch (error) {
      if (!AgentError.is(error) && !LogError.is(error)) throw error;
      problems.push((error as Error).message);
    }
  }
  return { session, records, problems };
}

async function* allSessions(log: EventLog): AsyncGenerator<string> {
  for (let after: string | undefined; ;) {
    const page = await log.list({ prefix: "session/", limit: 500, ...(after !== undefined && { after }) });
    for (const info of page) {
      const session = sessionOf(info.log);
      if (session !== undefined) yield session;
    }
    after = page.at(-1)?.log;
    if (page.length < 500) return;
  }
}

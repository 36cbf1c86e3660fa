import { inboxLog, sessionLog, snapshotLog, type EventLog, type LogId, type LogRecord, type SessionId } from "@keelson/protocol";
import { atAgentBoundary } from "../log-failure.ts";
import { isRecordOf } from "../record-data.ts";
import { forgetRemembered } from "../remembered-items.ts";
import { sessionError } from "../session-error.ts";
import { CHILD_MARK } from "../session-id.ts";
import { sessionLogs } from "../session-logs.ts";
import type { SessionsOptions } from "../sessions-options.ts";
import { isStateStore, problemWithRemembered } from "./remembered-in-logs.ts";
import { removeBlobs, type RemovedBlobs } from "./remove-blobs.ts";

/** What went with a session. */
export interface DeletedSession {
  /** It and those of its children. */
  readonly sessions: readonly SessionId[];
  readonly blobs: RemovedBlobs;
}

/** With all that is kept of it: its inbox and snapshots, the sessions of its children, blobs, and what the state store remembers of them. */
export function deleteSession(services: SessionsOptions, id: string): Promise<DeletedSession> {
  const { log, owner, newId, leaseTtlMs } = services;
  return atAgentBoundary(id, async () => {
    const session = id as SessionId;
    if ((await log.head(sessionLog(session))) === 0) throw sessionError(id, `There is no session "${id}".`);
    const children = await childrenOf(log, session);
    // Taking the lease makes sure that nobody works on it.
    const lease = await log.acquire(sessionLog(session), { owner: `${owner}:${newId()}`, ttlMs: leaseTtlMs });
    try {
      const sessions = [...children, session];
      const problem = await problemWithRemembered(services, sessions);
      if (problem !== undefined) throw sessionError(id, problem);
      return { sessions, blobs: await removeSessions(services, sessions) };
    } finally {
      await lease.release();
    }
  });
}

/** Those on which nobody works. Children come before the session that they belong to. */
export async function removeSessions(
  { log, blobs, state, forgetSession }: SessionsOptions,
  sessions: readonly SessionId[],
): Promise<RemovedBlobs> {
  const logs = sessions.flatMap(logsOfSession);
  // Its log goes last: a deletion that was cut off finds all that is left when it is asked for again.
  for (const each of sessions) {
    await forgetSession?.(each);
    if (isStateStore(state)) await forgetRemembered(state, each);
  }
  const removed = await removeBlobs(log, blobs, new Set(logs));
  for (const each of logs) await log.delete(each);
  return removed;
}

export function logsOfSession(session: SessionId): readonly LogId[] {
  return [snapshotLog(session), inboxLog(session), sessionLog(session)];
}

/** @throws AgentError of kind `session` where a fork shares its history */
async function childrenOf(log: EventLog, id: SessionId): Promise<readonly SessionId[]> {
  const children: SessionId[] = [];
  for await (const { session: other } of sessionLogs(log)) {
    const first = await firstRecord(log, other);
    if (first === undefined) continue;
    if (isRecordOf(first, "run-start") && first.data.parent !== undefined && other.startsWith(`${id}${CHILD_MARK}`)) children.push(other);
    const origin = isRecordOf(first, "session-create") ? first.data.parent : undefined;
    if (origin?.session === id && origin.seq !== 0)
      throw sessionError(id, `Session "${id}" shares its history with its fork "${other}". Delete that one first.`);
  }
  return children;
}

async function firstRecord(log: EventLog, session: SessionId): Promise<LogRecord | undefined> {
  for await (const record of log.read(sessionLog(session))) return record;
  return undefined;
}

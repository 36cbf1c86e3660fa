import {
  inboxLog,
  LogError,
  sessionLog,
  type EventLog,
  type InboxMessage,
  type LogRecord,
  type RunId,
  type SessionId,
} from "@keelson/protocol";
import { foldSession } from "../../session/fold-session.ts";
import type { Journal } from "../../session/journal.ts";
import { inboxRecord } from "../../session/inbox-record.ts";
import { atAgentBoundary } from "../../session/log-failure.ts";
import { sessionError } from "../../session/session-error.ts";
import { checkSessionId } from "../../session/session-id.ts";
import type { RunnerServices } from "../turn/runner-services.ts";
import { wakeSession } from "../turn/wake-session.ts";

/**
 * Tells the run of a session something, from whatever process: it goes into the session's inbox, once under one key. Rejects with
 * AgentError `session` where there is no run that could read it.
 * @param options.afterEnd also writes to a session whose run is over: its next run reads it
 */
export async function writeToRun(
  services: RunnerServices,
  session: string,
  key: string,
  message: InboxMessage,
  { afterEnd = false }: { readonly afterEnd?: boolean } = {},
): Promise<void> {
  const id = session as SessionId;
  checkSessionId(session, { child: true });
  await atAgentBoundary(session, async () => {
    const over = await isOver(services, id);
    if (over && !afterEnd)
      throw sessionError(session, `The run of session "${session}" is over: nothing reaches it any more (${message.type}).`);
    try {
      await services.log.append(inboxLog(id), "any", [inboxRecord(key, message)], { durability: services.durability ?? "power" });
    } catch (error) {
      // Told already, if in other words: the first counts.
      if (!LogError.is(error, "conflict")) throw error;
    }
    if (!over) await wakeSession(services, id);
  });
}

/**
 * The same for a run that is open in this process; one that waits finds it when it goes on.
 * @param options.afterEnd what is for the session is said also when this run is over
 * @returns whether the run could still read it
 */
export async function writeToOpenRun(
  services: RunnerServices,
  journal: Journal | undefined,
  id: RunId,
  message: InboxMessage,
  { afterEnd = false }: { readonly afterEnd?: boolean } = {},
): Promise<boolean> {
  const { run } = journal?.state ?? {};
  if (!journal || run?.id !== id || (run.status === "ended" && !afterEnd)) return false;
  await atAgentBoundary(journal.state.id, async () => {
    await journal.writeInbox(`${message.type}/${services.newId()}`, message);
    if (run.status === "suspended") await wakeSession(services, journal.state.id);
  });
  return true;
}

/** Looks at the last record alone where that says it: a session may be long. */
async function isOver({ log, blobs }: RunnerServices, session: SessionId): Promise<boolean> {
  const last = await lastRecord(log, session);
  if (last === undefined) throw sessionError(session, `There is no session "${session}".`);
  if (last.type === "run-complete" || last.type === "error") return true;
  if (!last.type.startsWith("session-")) return false;
  const { run } = await foldSession(log, blobs, session);
  return run === undefined || run.status === "ended";
}

async function lastRecord(log: EventLog, session: SessionId): Promise<LogRecord | undefined> {
  const head = await log.head(sessionLog(session));
  if (head === 0) return undefined;
  for await (const record of log.read(sessionLog(session), { after: head - 1 })) return record;
  return undefined;
}

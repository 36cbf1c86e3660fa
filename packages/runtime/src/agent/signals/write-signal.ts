import { inboxLog, LogError, sessionLog, type EventLog, type LogRecord, type SessionId, type Signal } from "@keelson/protocol";
import { foldSession } from "../../session/fold-session.ts";
import { inboxRecord } from "../../session/inbox-record.ts";
import { atAgentBoundary } from "../../session/log-failure.ts";
import { sessionError } from "../../session/session-error.ts";
import { checkSessionId } from "../../session/session-id.ts";
import type { World } from "../world.ts";
import { checkSignal } from "./check-signals.ts";

/** Puts a signal into a session's inbox. Under one key it is told once. Rejects with `AgentError`. */
export async function writeSignal(world: World, session: string, signal: Signal, key: string): Promise<void> {
  const id = session as SessionId;
  checkSessionId(session, { child: true });
  const checked = checkSignal(signal);
  await atAgentBoundary(session, async () => {
    if (await isOver(world, id)) throw sessionError(session, `The run of session "${session}" is over: it takes no signals any more.`);
    try {
      await world.log.append(inboxLog(id), "any", [inboxRecord(`signal/${key}`, { type: "signal", signal: checked })], {
        durability: world.durability ?? "power",
      });
    } catch (error) {
      // Told already, if in other words: the first counts.
      if (!LogError.is(error, "conflict")) throw error;
    }
  });
}

/** Looks at the last record alone where that says it: a session may be long. */
async function isOver({ log, blobs }: World, session: SessionId): Promise<boolean> {
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

import { inboxLog, type OpenQuestion, type SessionId } from "@keelson/protocol";
import { foldReadable } from "../../../session/fold-session.ts";
import { atAgentBoundary, isOfOneSession } from "../../../session/log-failure.ts";
import { rootSession } from "../../../session/session-id.ts";
import type { SessionState } from "../../../session/session-state.ts";
import { openSessions } from "../../../session/session-logs.ts";
import type { RunnerServices } from "../../turn/runner-services.ts";

/**
 * The questions of all sessions that can still be decided. One session is folded at a time, so that memory holds no more than
 * the longest of them, and none whose summary says that its run is over. A damaged one has none: nothing could be decided in it.
 */
export async function listQuestions(services: RunnerServices): Promise<readonly OpenQuestion[]> {
  return atAgentBoundary("*", async () => {
    const found: OpenQuestion[] = [];
    for await (const session of openSessions(services.log)) {
      const { state, damage } = await foldReadable(services.log, services.blobs, session);
      if (damage === undefined) found.push(...(await openQuestionsOf(services, state)));
      else if (!isOfOneSession(damage)) throw damage;
    }
    return found;
  });
}

/** Those of one session that nobody has answered, and that are not too old to be answered. */
async function openQuestionsOf({ log, clock }: RunnerServices, { id, run, inboxRead }: SessionState): Promise<readonly OpenQuestion[]> {
  if (run === undefined || run.status === "ended") return [];
  const open = new Map([...run.questions].filter(([, { decision, expiresAt }]) => decision === undefined && expiresAt >= clock.now()));
  if (open.size === 0) return [];
  // What was decided since the run last looked stands in its inbox, under the nonce of the question.
  for await (const { key } of log.read(inboxLog(id), { after: inboxRead })) open.delete(key);
  return [...open.values()].map(({ decision: _none, ...question }) => ({ ...question, ...whoseQuestion(id, run.id) }));
}

/** Where a question comes from, and what is to be resumed once it is decided. */
export function whoseQuestion(session: SessionId, runId: OpenQuestion["runId"]): Pick<OpenQuestion, "session" | "runId" | "rootSession"> {
  return { session, runId, rootSession: rootSession(session) };
}

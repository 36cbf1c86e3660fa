import { AgentError, LogError, sessionLog } from "@keelson/protocol";
import type { CodingRunner } from "../core/coding-runner.ts";
import type { Stores } from "../core/stores.ts";
import { checkSession } from "./check-sessions.ts";

export interface RepairedSession {
  readonly session: string;
  /** In words. Empty: nothing is wrong with it, and nothing was done. */
  readonly problems: readonly string[];
  /** The session to go on in: it shares the records before the damage. Missing where there are none. */
  readonly repaired?: string;
  /** How many records it has from the damaged one, and how many it has not, though some of those may be sound. */
  readonly kept: number;
  readonly dropped: number;
}

/**
 * Makes a session of what stands before the damage of another, as a fork: calls that were under way there are answered as not finished, so that none
 * is made twice unseen. The damaged one stays as it is, with all that it holds.
 */
export async function repairSession(stores: Stores, runner: CodingRunner, session: string): Promise<RepairedSession> {
  const { problems } = await checkSession(stores, runner, session);
  const head = await stores.log.head(sessionLog(session));
  if (problems.length === 0) return { session, problems, kept: head, dropped: 0 };
  const sound = await soundRecords(stores, runner, session);
  if (sound === 0) return { session, problems, kept: 0, dropped: head };
  const { sessions } = runner;
  const listed = (await sessions.list()).find(({ id }) => id === session);
  const repaired = await sessions.fork(session, { seq: sound, name: `${listed?.name ?? session} (repaired)` });
  for (const tag of listed?.tags ?? []) await sessions.tag(repaired, tag);
  return { session, problems, repaired, kept: sound, dropped: head - sound };
}

/** The last record up to which all of them can be read, with the large values that they need, and make sense. */
async function soundRecords({ log }: Stores, { sessions }: CodingRunner, session: string): Promise<number> {
  let [last, lastEvent] = [0, 0];
  try {
    for await (const { seq } of log.read(sessionLog(session))) last = seq;
  } catch (error) {
    if (!LogError.is(error, "corrupt")) throw error;
  }
  try {
    for await (const event of sessions.events(session)) if ("seq" in event) lastEvent = event.seq;
  } catch (error) {
    if (!AgentError.is(error)) throw error;
    last = lastEvent;
  }
  while (last > 0) {
    try {
      await sessions.messagesAt(session, last);
      return last;
    } catch (error) {
      if (!AgentError.is(error)) throw error;
      const { cause } = error;
      const at = LogError.is(cause, "corrupt") ? cause.failure.seq : undefined;
      last = Math.min(last, at ?? last) - 1;
    }
  }
  return 0;
}

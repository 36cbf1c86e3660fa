import { inboxLog, type EventLog, type InboxEntry } from "@keelson/protocol";
import { inboxEntry } from "./inbox-record.ts";
import type { SessionState } from "./session-state.ts";

/**
 * The model that was set for the runs of an agent in a session, if one was.
 * @param unread what stands in the session's inbox and no run read yet: what was said after the last turn of the last run
 */
export function sessionModel({ models, run }: SessionState, agent: string, unread: readonly InboxEntry[]): string | undefined {
  return lastSet(unread, agent, run?.agent) ?? models.get(agent);
}

/** The model that was set while the newest run was at work, or after it: a later choice than the model it was started with. */
export async function modelSetSince(log: EventLog, { id, inboxRead, run }: SessionState): Promise<string | undefined> {
  if (run === undefined) return undefined;
  const unread: InboxEntry[] = [];
  for await (const record of log.read(inboxLog(id), { after: inboxRead })) unread.push(inboxEntry(record));
  return lastSet(unread, run.agent, run.agent) ?? run.setModel;
}

/** @param told whose run was told what names no agent */
function lastSet(unread: readonly InboxEntry[], agent: string, told: string | undefined): string | undefined {
  let model: string | undefined;
  for (const entry of unread) if (entry.type === "set-model" && (entry.agent ?? told) === agent) model = entry.model;
  return model;
}

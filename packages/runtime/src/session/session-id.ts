import type { SessionId } from "@keelson/protocol";
import { sessionError } from "./session-error.ts";

/** Stands in the ids of sessions that belong to child runs. */
export const CHILD_MARK = "~";

/** The session of the run that started those of this one; nothing where no other run did. */
export function parentSession(session: SessionId): SessionId | undefined {
  const end = session.lastIndexOf(CHILD_MARK);
  return end > 0 ? (session.slice(0, end) as SessionId) : undefined;
}

/** The session of the outermost run above this one; the session itself where no other run began its runs. */
export function rootSession(session: SessionId): SessionId {
  const above = parentSession(session);
  return above === undefined ? session : rootSession(above);
}

/** @throws AgentError of kind `session` for an id that can't name a log */
export function checkSessionId(session: string, options: { readonly child?: boolean } = {}): void {
  if (typeof session === "string" && /^[\w.~:@-]{1,200}$/.test(session) && (options.child === true || !session.includes(CHILD_MARK)))
    return;
  throw sessionError(
    session,
    `${JSON.stringify(String(session).slice(0, 80))} can't be a session id: use 1 to 200 letters, digits and . _ - : @`,
  );
}

import { AgentError, type Sealed } from "@keelson/protocol";
import type { SessionsOptions } from "../sessions-options.ts";
import { logsOfSession } from "./delete-session.ts";
import type { SurveyedSession } from "./survey-sessions.ts";

/** What became smaller in place. */
export interface SealedSessions extends Omit<Sealed, "segments"> {
  /** Those of which records were sealed now; the others were before, or have too few. */
  readonly sessions: number;
}

export const NOTHING_SEALED: SealedSessions = { sessions: 0, records: 0, bytesBefore: 0, bytesAfter: 0 };

/** @throws AgentError `invalid-option` where the log keeps no segments */
export function checkSealing({ log }: Pick<SessionsOptions, "log">): void {
  if (log.seal !== undefined) return;
  throw new AgentError({
    kind: "invalid-option",
    option: "sealAfterMs",
    message:
      "sealAfterMs needs a log that seals, such as that of createSqliteEventLog or createPostgres; this one keeps all records as they came. Leave it out.",
  });
}

/** Those of their children, inboxes and snapshots as well, up to the newest append of each. One that is damaged stays as it is, for who saves what it holds. */
export async function sealSessions({ log }: Pick<SessionsOptions, "log">, sessions: readonly SurveyedSession[]): Promise<SealedSessions> {
  let all = NOTHING_SEALED;
  for (const { all: members, spare } of sessions) {
    if (spare?.because === "damaged") continue;
    let own = NOTHING_SEALED;
    for (const id of members.flatMap(logsOfSession)) {
      const sealed = await log.seal?.(id, { before: Number.MAX_SAFE_INTEGER });
      if (sealed !== undefined && sealed.records > 0) own = { ...sum(own, sealed), sessions: 1 };
    }
    all = { ...sum(all, own), sessions: all.sessions + own.sessions };
  }
  return all;
}

function sum(one: SealedSessions, other: Omit<Sealed, "segments">): SealedSessions {
  return {
    sessions: one.sessions,
    records: one.records + other.records,
    bytesBefore: one.bytesBefore + other.bytesBefore,
    bytesAfter: one.bytesAfter + other.bytesAfter,
  };
}

import type { LogInfo, SessionId } from "@keelson/protocol";
import { foldReadable } from "../fold-session.ts";
import { agentErrorOf, isOfOneSession } from "../log-failure.ts";
import { rootSession } from "../session-id.ts";
import { sessionLogs } from "../session-logs.ts";
import { sessionMetadata } from "../session-metadata.ts";
import { importedAt, listedMetadata, mayHaveOpenRun } from "../session-summary.ts";
import type { SessionsOptions } from "../sessions-options.ts";

/** A session with those of its children, as the list of logs tells of them. */
export interface SurveyedSession {
  readonly session: SessionId;
  /** Its children, then itself. */
  readonly all: readonly SessionId[];
  /** Where their logs end: another text where anything came since. */
  readonly heads: string;
  /** Unix ms: when something happened in them last, or they were imported. */
  readonly idleSince: number;
  /** Why it must stay, if it must. */
  spare?: { readonly because: "open" | "forked" | "damaged" | "remembered"; readonly message: string };
}

/** All sessions that are nobody's child. A log is read only where it has no summary of this version. */
export async function surveySessions({ log, blobs }: Pick<SessionsOptions, "log" | "blobs">): Promise<Map<SessionId, SurveyedSession>> {
  const members = new Map<SessionId, { readonly session: SessionId; readonly info: LogInfo }[]>();
  for await (const found of sessionLogs(log)) {
    const root = rootSession(found.session);
    members.set(root, [...(members.get(root) ?? []), found]);
  }
  const surveyed = new Map<SessionId, SurveyedSession>();
  const forkOf = new Map<SessionId, SessionId>();
  for (const [root, found] of members) {
    // A child whose session is not there any more is left by a deletion that was cut off.
    if (!found.some(({ session }) => session === root)) continue;
    let spare: SurveyedSession["spare"];
    for (const { session, info } of found) {
      const { parent, ...known } = await stateOf(session, info);
      spare ??= known.spare;
      if (parent !== undefined && parent.seq !== 0) forkOf.set(parent.session, session);
    }
    surveyed.set(root, {
      session: root,
      all: [...found.map(({ session }) => session).filter((session) => session !== root), root],
      heads: found.map(({ session, info }) => `${session} ${info.head}`).join("\n"),
      idleSince: Math.max(...found.map(({ info }) => Math.max(info.updatedAt, importedAt(info) ?? 0))),
      ...(spare !== undefined && { spare }),
    });
  }
  for (const [parent, fork] of forkOf) {
    const entry = surveyed.get(parent);
    if (entry !== undefined)
      entry.spare ??= { because: "forked", message: `Session "${parent}" shares its history with its fork "${fork}".` };
  }
  return surveyed;

  async function stateOf(
    session: SessionId,
    info: LogInfo,
  ): Promise<{ readonly spare?: SurveyedSession["spare"]; readonly parent?: { readonly session: SessionId; readonly seq: number } }> {
    const open = { because: "open", message: `A run of session "${session}" is at work or waits.` } as const;
    const listed = listedMetadata(session, info);
    if (listed !== undefined) return { ...(mayHaveOpenRun(info) && { spare: open }), ...(listed.parent && { parent: listed.parent }) };
    const { state, damage } = await foldReadable(log, blobs, session);
    const { parent } = sessionMetadata(state);
    const known = parent === undefined ? {} : { parent };
    if (damage !== undefined) {
      if (!isOfOneSession(damage)) throw damage;
      return { spare: { because: "damaged", message: agentErrorOf(session, damage).message }, ...known };
    }
    return { ...(state.run && state.run.status !== "ended" && { spare: open }), ...known };
  }
}

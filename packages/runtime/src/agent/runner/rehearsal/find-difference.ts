import { LogError, sessionLog, snapshotLog, type SessionId } from "@keelson/protocol";
import { foldWhole } from "../../../session/fold-session.ts";
import { isKnownRecordType } from "../../../session/known-record-types.ts";
import { agentErrorOf, isOfOneSession } from "../../../session/log-failure.ts";
import type { SessionState } from "../../../session/session-state.ts";
import { readSnapshot } from "../../../session/snapshots/snapshot.ts";
import type { RunnerServices } from "../../turn/runner-services.ts";
import { firstDifference } from "./first-difference.ts";
import type { RehearsedSession } from "./rehearsed-session.ts";

type Difference = Pick<RehearsedSession, "verdict" | "reason" | "action" | "isSafe"> & Partial<Pick<RehearsedSession, "seq">>;

/** What this build reads otherwise than the one that wrote it, up to record `end`: a resume would go by it, and not see it. */
export async function findDifference(
  { log, blobs }: Pick<RunnerServices, "log" | "blobs">,
  session: SessionId,
  end: number,
): Promise<Difference | undefined> {
  for await (const { seq, type } of log.read(sessionLog(session))) {
    if (seq > end) break;
    if (isKnownRecordType(type)) continue;
    return differs(
      seq,
      `record ${seq} is of the type "${type}", which this build does not know and would pass over: a later version wrote it`,
      "Deploy the version that wrote it, or a later one.",
    );
  }
  const snapshot = await readSnapshot(log, blobs, session);
  try {
    const { seq } = snapshot?.place ?? { seq: end };
    const whole = await foldWhole(log, blobs, session, seq);
    const different = snapshot && firstDifference(comparable(snapshot.state), comparable(whole));
    if (different === undefined) return undefined;
    return differs(
      seq,
      `at record ${seq} its snapshot says ${different.path} is ${different.first}, and its log, folded from the beginning by this build, says ${different.second}`,
      `Raise FOLD_VERSION, so that snapshots of the build before are not read, or delete the log "${snapshotLog(session)}".`,
    );
  } catch (damage) {
    if (!isOfOneSession(damage)) throw agentErrorOf(session, damage);
    const seq = LogError.is(damage, "corrupt") ? damage.failure.seq : undefined;
    return differs(
      seq,
      `its log can't be folded from the beginning, and goes on from its snapshot alone: ${agentErrorOf(session, damage).message}`,
      "Look at the log with `keelson sessions check`, and restore it from a backup.",
    );
  }
}

function differs(seq: number | undefined, reason: string, action: string): Difference {
  return { verdict: "differs", reason, action, ...(seq !== undefined && { seq }), isSafe: false };
}

/** Of the ends of turns, a snapshot holds the last. */
function comparable({ conversation, turnBorders, turnsBefore, ...rest }: SessionState): object {
  return {
    ...rest,
    conversation: conversation.entriesFrom(0),
    turns: turnsBefore + turnBorders.length,
    lastBorder: turnBorders.at(-1),
  };
}

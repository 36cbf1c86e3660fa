import { AgentError, sessionLog, type Message, type SessionId, type ToolCallPart } from "@keelson/protocol";
import { borderAfter } from "../border-after.ts";
import { foldSession, foldWhole } from "../fold-session.ts";
import { atAgentBoundary } from "../log-failure.ts";
import { openCalls } from "../open-calls.ts";
import { isRecordOf, type RecordData } from "../record-data.ts";
import { sessionError } from "../session-error.ts";
import { checkSessionId } from "../session-id.ts";
import type { RunState, SessionState } from "../session-state.ts";
import type { SessionsOptions } from "../sessions-options.ts";
import { foldedMetadata } from "./folded-metadata.ts";

export interface ForkOptions {
  /** Default: a new one. */
  readonly id?: string | undefined;
  /** Default: that of the session, with "(fork)" behind it. */
  readonly name?: string | undefined;
  /** The history ends with this turn; 0 is before the first. */
  readonly turn?: number | undefined;
  /** The history ends with this record, wherever in a turn that is. Not together with `turn`. */
  readonly seq?: number | undefined;
}

/** @param create makes the session with its first record, where there is none of that id */
export async function forkSession(
  services: SessionsOptions,
  parent: SessionId,
  options: ForkOptions = {},
  create: (session: SessionId, data: RecordData["session-create"]) => Promise<void>,
): Promise<SessionId> {
  const { id, name, turn, seq } = options;
  if (turn !== undefined && seq !== undefined) throw invalidSeq("fork takes a turn or a seq, not both.");
  const history = await atAgentBoundary(parent, () =>
    seq === undefined ? upToTurn(services, parent, turn) : upToRecord(services, parent, seq),
  );
  const session = (id ?? services.newId()) as SessionId;
  checkSessionId(session);
  const { state, ...data } = history;
  await create(session, { ...data, name: name ?? `${state.name ?? state.id} (fork)`, agent: state.agent });
  await atAgentBoundary(session, () => foldedMetadata(services, session));
  return session;
}

/** What a fork begins with, and the state that it is a fork of. */
interface History extends Pick<RecordData["session-create"], "parent" | "closing"> {
  readonly state: SessionState;
}

async function upToTurn({ log, blobs }: SessionsOptions, parent: SessionId, turn?: number): Promise<History> {
  const state = await foldWhole(log, blobs, parent);
  const border = borderAfter(state, turn ?? state.turnBorders.length, "forked after turn");
  return { state, parent: { session: border?.session ?? state.id, seq: border?.seq ?? 0 } };
}

/** Reads nothing behind the record: what is damaged there keeps nobody from forking before it. */
async function upToRecord({ log, blobs }: SessionsOptions, parent: SessionId, seq: number): Promise<History> {
  if (!Number.isSafeInteger(seq) || seq < 1) throw invalidSeq(`seq must be the number of a record, not ${String(seq)}.`);
  const head = await log.head(sessionLog(parent));
  if (seq > head) throw sessionError(parent, `Session "${parent}" has ${head} records; it can't be forked at record ${seq}.`);
  const state = await foldSession(log, blobs, parent, seq);
  const closing = [...openCalls(state.conversation.messages).map((call) => leftBehind(call, state.run)), ...(state.run?.held ?? [])];
  return { state, parent: { session: parent, seq }, ...(closing.length > 0 && { closing }) };
}

/** The result of a call that has none where the history ends. */
function leftBehind({ id, name }: ToolCallPart, run: RunState | undefined): Message {
  const about = isStarted(id, run) ? "It had been started and may have taken effect: look before you repeat it." : "It changed nothing.";
  const output = `Not finished: this session was forked from another where this call had no result yet. ${about}`;
  return { role: "tool", content: [{ type: "tool-result", id, name, output, isError: true }] };
}

/** Whether the call was on its way to change something. One that only reads leaves no trace of it, and did nothing. */
function isStarted(call: string, run: RunState | undefined): boolean {
  const records = [...(run?.open.values() ?? [])];
  if (records.some((record) => isRecordOf(record, "child-start") && record.data.callId === call)) return true;
  const reserved = records.findLast((record) => isRecordOf(record, "tool-reserved") && record.data.callId === call);
  return reserved !== undefined && run?.open.has(reserved.key.replace("/reserved/", "/not-done/")) === false;
}

function invalidSeq(message: string): AgentError {
  return new AgentError({ kind: "invalid-option", option: "seq", message });
}

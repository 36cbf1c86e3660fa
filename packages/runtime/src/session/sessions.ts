import {
  inboxLog,
  LogError,
  isDurableEventType,
  sessionLog,
  snapshotLog,
  type BlobStore,
  type EventLog,
  type JsonObject,
  type LogRecord,
  type Message,
  type RecordedEvent,
  type RunId,
  type SessionId,
  type SessionMetadata,
} from "@keelson/protocol";
import type { Clock } from "../platform/clock.ts";
import { foldReadable, foldSession, foldWhole } from "./fold-session.ts";
import { Journal } from "./journal.ts";
import { restoreLargeRecord } from "./large-records.ts";
import { agentErrorOf, atAgentBoundary, isOfOneSession } from "./log-failure.ts";
import { isRecordOf, type NewRecordOf } from "./record-data.ts";
import { sessionError } from "./session-error.ts";
import { CHILD_MARK, checkSessionId } from "./session-id.ts";
import { sessionMetadata } from "./session-metadata.ts";
import { sessionLogs } from "./session-logs.ts";
import { listedMetadata, sessionSummary } from "./session-summary.ts";
import { shownEvent } from "./shown-event.ts";
import { emptySession, type SessionState, type TurnBorder } from "./session-state.ts";
import { checkOptionNames } from "../json/option-names.ts";

export interface SessionsOptions {
  readonly log: EventLog;
  readonly blobs: BlobStore;
  readonly clock: Clock;
  readonly owner: string;
  readonly leaseTtlMs: number;
  newId(): SessionId;
}

export interface SessionView {
  readonly metadata: SessionMetadata;
  readonly messages: readonly Message[];
  /** What its agents' plugins keep, by their keys under `plugins`. */
  readonly state: JsonObject;
  /** Of the newest run. `state`: of its agent's state machine, when it has one. */
  readonly run?: {
    readonly id: RunId;
    readonly status: "working" | "suspended" | "ended";
    readonly reason?: string;
    readonly state?: string;
  };
}

/**
 * The sessions that a log holds. Every change is a record; nothing is rewritten. Failures reject with `AgentError`: of kind
 * `session` when there is no such session, or another process works on it.
 */
export interface Sessions {
  create(options?: {
    readonly id?: string;
    readonly name?: string;
    readonly tags?: readonly string[];
    readonly agent?: string;
  }): Promise<SessionId>;
  /**
   * Newest first. Sessions of child runs are left out unless asked for. It reads what their logs keep in summary, and reads a
   * log only where an earlier version left none. One whose log is found damaged then is among them, marked with `damaged`: it
   * can be deleted, and its events read as far as they go.
   */
  list(options?: { readonly children?: boolean }): Promise<readonly SessionMetadata[]>;
  get(id: string): Promise<SessionView>;
  /** A new session that shares the history up to the end of turn number `turn` (default: the last that is complete). */
  fork(id: string, options?: { readonly id?: string; readonly name?: string; readonly turn?: number }): Promise<SessionId>;
  /** Takes back all but the first `turns` turns of the conversation. The log keeps what was. */
  rewind(id: string, turns: number): Promise<void>;
  rename(id: string, name: string): Promise<void>;
  /** A tag that is there already is not added again. */
  tag(id: string, tag: string): Promise<void>;
  /** With its inbox and the sessions of its children. Refused while forks share its history, and while somebody works on it. */
  delete(id: string): Promise<void>;
  /**
   * The durable events of all its runs after `after`; a later version may have written them. With `follow` it waits for more, whatever
   * process commits them, until `signal` fires or the reader leaves; only then it ends.
   */
  events(
    id: string,
    options?: { readonly after?: number; readonly follow?: boolean; readonly signal?: AbortSignal },
  ): AsyncIterable<RecordedEvent>;
}

export function createSessions(options: SessionsOptions): Sessions {
  checkOptionNames("createSessions", options, { log: true, blobs: true, clock: true, owner: true, leaseTtlMs: true, newId: true });
  const { log, blobs } = options;
  return {
    async create({ id, name, tags, agent } = {}) {
      const session = (id ?? options.newId()) as SessionId;
      checkSessionId(session);
      const data = { ...(name !== undefined && { name }), ...(tags && { tags }), ...(agent !== undefined && { agent }) };
      await change(session, (state) => {
        if (state.seq > 0)
          throw sessionError(session, `There is a session "${session}" already. Choose another id, or go on with that one.`);
        return { key: "create", type: "session-create", data };
      });
      return session;
    },

    list: ({ children = false } = {}) =>
      atAgentBoundary("*", async () => {
        const found: SessionMetadata[] = [];
        for await (const { session, info } of sessionLogs(log)) {
          if (!children && session.includes(CHILD_MARK)) continue;
          found.push(listedMetadata(session, info) ?? (await foldedMetadata(session)));
        }
        return found.toSorted((a, b) => b.updatedAt - a.updatedAt);
      }),

    async get(id) {
      const state = await fold(id);
      const { run } = state;
      const reason = run?.end?.reason ?? run?.suspendReason;
      return {
        metadata: sessionMetadata(state),
        messages: state.conversation.messages,
        state: state.agentState,
        ...(run && {
          run: {
            id: run.id,
            status: run.status,
            ...(reason && { reason }),
            ...(run.strategyState !== undefined && { state: run.strategyState }),
          },
        }),
      };
    },

    async fork(id, { id: given, name, turn } = {}) {
      const parent = await existing(id);
      const state = await atAgentBoundary(id, () => foldWhole(log, blobs, parent));
      const border = borderAfter(state, turn ?? state.turnBorders.length, "forked after turn");
      const session = (given ?? options.newId()) as SessionId;
      checkSessionId(session);
      const data = {
        parent: { session: border?.session ?? state.id, seq: border?.seq ?? 0 },
        name: name ?? `${state.name ?? state.id} (fork)`,
        agent: state.agent,
      };
      await change(session, (forked) => {
        if (forked.seq > 0) throw sessionError(session, `There is a session "${session}" already. Choose another id for the fork.`);
        return { key: "create", type: "session-create", data };
      });
      await atAgentBoundary(session, () => foldedMetadata(session));
      return session;
    },

    async rewind(id, turns) {
      await change(await existing(id), async (state, journal) => {
        if (state.run && state.run.status !== "ended")
          throw sessionError(id, `Session "${id}" has a run that is not finished. Finish or abort it, then rewind.`);
        await journal.readTurns();
        const border = borderAfter(state, turns, "rewound to turn");
        const key = `rewind/${state.seq}`;
        const data = { turns, length: border?.length ?? 0 };
        const isCompacted = border !== undefined && border.compaction !== state.compaction;
        const hasOtherState = (border?.stateUpdate ?? "") !== state.stateUpdate;
        if (!isCompacted && !hasOtherState) return { key, type: "session-rewind", data };
        const { conversation, agentState } =
          border === undefined ? emptySession(state.id) : await foldSession(log, blobs, border.session, border.seq);
        const restored = conversation.messages.map((message, index) => ({ message, policy: conversation.policyAt(index) }));
        return {
          key,
          type: "session-rewind",
          data: { ...data, ...(isCompacted && { restored }), ...(hasOtherState && { agentState }) },
        };
      });
    },

    async rename(id, name) {
      await change(await existing(id), () => ({ key: `rename/${options.newId()}`, type: "session-rename", data: { name } }));
    },

    async tag(id, tag) {
      await change(await existing(id), (state) =>
        state.tags.includes(tag) ? undefined : { key: `tag/${options.newId()}`, type: "session-tag", data: { tag } },
      );
    },

    delete: (id) =>
      atAgentBoundary(id, async () => {
        await existing(id);
        const children: SessionId[] = [];
        for await (const { session: other } of sessionLogs(log)) {
          const first = await firstRecord(other);
          if (first === undefined) continue;
          if (isRecordOf(first, "run-start") && first.data.parent !== undefined && other.startsWith(`${id}${CHILD_MARK}`))
            children.push(other);
          const origin = isRecordOf(first, "session-create") ? first.data.parent : undefined;
          if (origin?.session === id && origin.seq !== 0)
            throw sessionError(id, `Session "${id}" shares its history with its fork "${other}". Delete that one first.`);
        }
        // Taking the lease makes sure that nobody works on it.
        const lease = await log.acquire(sessionLog(id), { owner: `${options.owner}:${options.newId()}`, ttlMs: options.leaseTtlMs });
        for (const session of [...children, id]) {
          await log.delete(sessionLog(session));
          await log.delete(inboxLog(session));
          await log.delete(snapshotLog(session));
        }
        await lease.release();
      }),

    async *events(id, { after = 0, follow = false, signal } = {}) {
      await existing(id);
      try {
        for await (const record of log.read(sessionLog(id), { after, follow, ...(signal && { signal }) })) {
          if (!isDurableEventType(record.type)) continue;
          const whole = await restoreLargeRecord(record, blobs);
          const { type, data } = shownEvent(whole);
          yield {
            ...data,
            type,
            seq: whole.seq,
            at: whole.at,
            runId: whole.key.slice(0, whole.key.indexOf("/")),
          } as RecordedEvent;
        }
      } catch (error) {
        throw agentErrorOf(id as SessionId, error);
      }
    },
  };

  async function existing(id: string): Promise<SessionId> {
    if ((await atAgentBoundary(id, () => log.head(sessionLog(id)))) === 0) throw sessionError(id, `There is no session "${id}".`);
    return id as SessionId;
  }

  async function fold(id: string): Promise<SessionState> {
    const session = await existing(id);
    return atAgentBoundary(id, () => foldSession(log, blobs, session));
  }

  /** For a session whose log keeps no summary: one that was forked just now, or that an earlier version left. From now on it does. */
  async function foldedMetadata(session: SessionId): Promise<SessionMetadata> {
    const { state, damage } = await foldReadable(log, blobs, session);
    if (damage !== undefined) {
      if (!isOfOneSession(damage)) throw damage;
      return { ...sessionMetadata(state), damaged: agentErrorOf(session, damage).message };
    }
    try {
      await log.append(sessionLog(session), state.seq, [], { summary: sessionSummary(state) });
    } catch (error) {
      // The list is right without it. Whoever was faster has appended a summary of their own.
      if (!LogError.is(error)) throw error;
    }
    return sessionMetadata(state);
  }

  async function firstRecord(session: SessionId): Promise<LogRecord | undefined> {
    for await (const record of log.read(sessionLog(session))) return record;
    return undefined;
  }

  /** Adds the record that `decide` makes of the session as it is, while nobody else can change it. */
  async function change(
    session: SessionId,
    decide: (state: SessionState, journal: Journal) => Change | undefined | Promise<Change | undefined>,
  ): Promise<void> {
    await atAgentBoundary(session, async () => {
      const journal = await Journal.open({
        log,
        blobs,
        clock: options.clock,
        session,
        owner: `${options.owner}:${options.newId()}`,
        leaseTtlMs: options.leaseTtlMs,
        durability: "power",
      });
      try {
        const record = await decide(journal.state, journal);
        if (record === undefined) return;
        journal.put(`session/${record.key}`, record.type, record.data, "power");
        await journal.flush();
      } finally {
        await journal.close();
      }
    });
  }
}

type Change = NewRecordOf<"session-create" | "session-rename" | "session-tag" | "session-rewind">;

/** The end of that turn; nothing for 0, which is before the first. */
function borderAfter({ id, turnBorders }: SessionState, turn: number, what: string): TurnBorder | undefined {
  const border = turnBorders[turn - 1];
  if (border !== undefined || turn === 0) return border;
  throw sessionError(id, `Session "${id}" has ${turnBorders.length} complete turns; it can't be ${what} ${turn}.`);
}

import {
  AgentError,
  isDurableEventType,
  sessionLog,
  type EffortLevel,
  type JsonObject,
  type Message,
  type PermissionMode,
  type RecordedEvent,
  type RunId,
  type RunStatus,
  type SessionId,
  type SessionMetadata,
} from "@keelson/protocol";
import { conversationTokens } from "../context/room/conversation-tokens.ts";
import { foldSession } from "./fold-session.ts";
import { Journal } from "./journal.ts";
import { restoreLargeRecord } from "./large-records.ts";
import { agentErrorOf, atAgentBoundary } from "./log-failure.ts";
import type { NewRecordOf } from "./record-data.ts";
import type { DeletedSession } from "./operations/delete-session.ts";
import type { Retention, RetentionPolicy } from "./operations/retain-sessions.ts";
import type { ForkOptions } from "./operations/fork-session.ts";
import type { ListOptions } from "./operations/list-sessions.ts";
import type { SessionSearchOptions } from "./operations/search-sessions.ts";
import type { SessionSearch } from "./operations/session-search.ts";
import { sessionError } from "./session-error.ts";
import { permissionModeOfRun } from "./permission-mode.ts";
import { checkSessionId } from "./session-id.ts";
import { borderAfter } from "./border-after.ts";
import { sessionMetadata } from "./session-metadata.ts";
import { shownEvent } from "./shown-event.ts";
import type { SessionsOptions } from "./sessions-options.ts";
import { emptySession, type SessionState } from "./session-state.ts";
import { checkMethodOptions, type MethodOptions } from "../json/check-method-options.ts";
import { checkOptionNames } from "../json/option-names.ts";
import { BOUND_OPTION, FLAG_OPTION } from "../json/option-rules.ts";

export interface SessionView {
  readonly metadata: SessionMetadata;
  readonly messages: readonly Message[];
  /** What its agents' plugins keep, by their keys under `plugins`. */
  readonly state: JsonObject;
  /** The values that its tools keep with `call.keep`, by name. Absent if there are none. */
  readonly kept?: JsonObject;
  /**
   * The size of its next request, with what its vendor counted last: about so many input tokens. `counted` is false if nothing was counted since the
   * conversation was compacted: then the system prompt and the tools are not included. Absent before the first run.
   */
  readonly context?: {
    readonly model: string;
    readonly tokens: number;
    readonly counted: boolean;
    /** The tokens that the vendor read from its cache or wrote to it last. */
    readonly cachedTokens: number;
  };
  /** Of the newest run. `state`: of its agent's state machine, when it has one. */
  readonly run?: {
    readonly id: RunId;
    readonly status: RunStatus;
    readonly reason?: string;
    readonly state?: string;
    /** The permission mode for the calls of its next response. Absent in logs of the first release. */
    readonly permissionMode?: PermissionMode;
    /** The effort that it has instead of the agent's. */
    readonly effort?: EffortLevel;
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
   * Those that all the options fit, the last changed first. It reads what their logs keep in summary, and reads a
   * log only where an earlier version left none. One whose log is found damaged then is among them, marked with `damaged`: it
   * can be deleted, and its events read as far as they go.
   */
  list(options?: ListOptions): Promise<readonly SessionMetadata[]>;
  /**
   * Finds messages, calls and their results by words, in all sessions that there are: records with all of the words, in whatever case, of which one
   * of three letters or more also stands for those that begin with it. What was rewound or compacted is found, too, since the log keeps it; what
   * a fork shares is found in the session that it is a fork of. A log with an index (SQLite) is asked; of any other, and of an encrypted one, the
   * records are read, up to `maxRecords`, and `incomplete` says so where that did not suffice.
   */
  search(text: string, options?: SessionSearchOptions): Promise<SessionSearch>;
  get(id: string): Promise<SessionView>;
  /**
   * The conversation as it stood when the log held so many records: what a compaction took out is there at the record before it, as it was.
   * @param seq as of an event; beyond the end of the log it is the conversation as it is
   */
  messagesAt(id: string, seq: number): Promise<readonly Message[]>;
  /**
   * A new session that shares the history up to the end of turn number `turn` (default: the last that is complete), or up to a record.
   *
   * What is under way at that record stays behind: the run, its questions, children and effects are those of the session that is forked, and
   * nothing of it is done here, or done again. The conversation is whole: a call without a result by then has one that says so, and whether
   * it may have taken effect; what the user said meanwhile follows. A response that was not recorded yet is not in it. Rules that people
   * added for the session they answered for do not hold here.
   */
  fork(id: string, options?: ForkOptions): Promise<SessionId>;
  /** Takes back all but the first `turns` turns of the conversation. The log keeps what was. */
  rewind(id: string, turns: number): Promise<void>;
  rename(id: string, name: string): Promise<void>;
  /** A tag that is there already is not added again. */
  tag(id: string, tag: string): Promise<void>;
  /**
   * With all that is kept of it: inbox, snapshots, the sessions of its children, blobs that no other log refers to, what it
   * remembered in the state store. Refused while forks share its history, and while somebody works on it. Where it has blobs, every log is read for those that need them.
   */
  delete(id: string): Promise<DeletedSession>;
  /**
   * Deletes the sessions that a policy lets go, as {@link Sessions.delete} does, and seals the records of those that it wants smaller. One that is open or waits, that shares its history with a fork, that
   * is damaged, or on which somebody works, is not deleted and is named.
   */
  retain(policy: RetentionPolicy): Promise<Retention>;
  /**
   * The durable events of all its runs after `after`; a later version may have written them. With `follow` it waits for more, whatever
   * process commits them, until `signal` fires or the reader leaves; only then it ends.
   */
  events(
    id: string,
    options?: { readonly after?: number; readonly follow?: boolean; readonly signal?: AbortSignal },
  ): AsyncIterable<RecordedEvent>;
}

const SESSIONS_METHODS: MethodOptions<Sessions> = {
  create: [0, { id: true, name: true, tags: true, agent: true }],
  list: [0, { agent: true, tag: true, state: true, since: true, until: true, children: true }],
  search: [1, { limit: true, session: true, children: true, maxRecords: true, signal: true }],
  fork: [1, { id: true, name: true, turn: true, seq: true }],
  retain: [0, { maxAgeMs: BOUND_OPTION, maxBytes: BOUND_OPTION, sealAfterMs: true, archive: true, dryRun: true }],
  events: [1, { after: true, follow: FLAG_OPTION, signal: true }, "throws"],
};

export function createSessions(options: SessionsOptions): Sessions {
  checkOptionNames("createSessions", options, {
    log: true,
    blobs: true,
    clock: true,
    owner: true,
    leaseTtlMs: true,
    newId: true,
    state: true,
    forgetSession: true,
  });
  const { log, blobs } = options;
  const sessions: Sessions = {
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

    list: async (listOptions) => (await import("./operations/list-sessions.ts")).listSessions(options, listOptions),

    search: async (text, searchOptions) => (await import("./operations/search-sessions.ts")).searchSessions(options, text, searchOptions),

    async get(id) {
      const state = await fold(id);
      const { run } = state;
      const metadata = sessionMetadata(state);
      const { reason } = metadata;
      return {
        metadata,
        messages: state.conversation.messages,
        state: state.agentState,
        ...(state.kept !== undefined && { kept: state.kept }),
        ...(run && { context: contextOf(state, run.model) }),
        ...(run && {
          run: {
            id: run.id,
            status: run.status,
            ...(reason !== undefined && { reason }),
            ...(run.strategyState !== undefined && { state: run.strategyState }),
            ...(run.terms !== undefined && { permissionMode: permissionModeOfRun(run.terms, run.permissionMode) }),
            ...(run.effort !== undefined && { effort: run.effort }),
          },
        }),
      };
    },

    async messagesAt(id, seq) {
      const session = await existing(id);
      if (!Number.isSafeInteger(seq) || seq < 1)
        throw new AgentError({ kind: "invalid-option", option: "seq", message: `seq must be the number of a record, not ${String(seq)}.` });
      const { conversation } = await atAgentBoundary(id, () => foldSession(log, blobs, session, seq));
      return conversation.messages;
    },

    async fork(id, forkOptions) {
      const { forkSession } = await import("./operations/fork-session.ts");
      return forkSession(options, await existing(id), forkOptions, (session, data) =>
        change(session, (forked) => {
          if (forked.seq > 0) throw sessionError(session, `There is a session "${session}" already. Choose another id for the fork.`);
          return { key: "create", type: "session-create", data };
        }),
      );
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

    // What is seldom done is loaded when it is.
    delete: async (id) => (await import("./operations/delete-session.ts")).deleteSession(options, id),
    retain: async (policy) => (await import("./operations/retain-sessions.ts")).retainSessions(options, policy),

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
  return checkMethodOptions("sessions", sessions, SESSIONS_METHODS);

  async function existing(id: string): Promise<SessionId> {
    if ((await atAgentBoundary(id, () => log.head(sessionLog(id)))) === 0) throw sessionError(id, `There is no session "${id}".`);
    return id as SessionId;
  }

  async function fold(id: string): Promise<SessionState> {
    const session = await existing(id);
    return atAgentBoundary(id, () => foldSession(log, blobs, session));
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

function contextOf({ counted, conversation }: SessionState, model: string): NonNullable<SessionView["context"]> {
  const { messages } = conversation;
  if (counted === undefined || counted.messages > messages.length)
    return { model, tokens: conversationTokens(messages), counted: false, cachedTokens: 0 };
  const { inputTokens, cacheReadTokens = 0, cacheCreationTokens = 0 } = counted;
  const tokens = inputTokens + conversationTokens(messages.slice(counted.messages));
  return { model, tokens, counted: true, cachedTokens: cacheReadTokens + cacheCreationTokens };
}

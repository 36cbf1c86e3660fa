import {
  AgentError,
  inboxLog,
  isDurableEventType,
  sessionLog,
  type AgentEvent,
  type BlobStore,
  type EventLog,
  type JsonObject,
  type LogRecord,
  type Message,
  type RunId,
  type SessionId,
  type SessionMetadata,
} from "@keelson/protocol";
import type { Clock } from "./clock.ts";
import { foldSession, Journal } from "./journal.ts";
import { restoreLargeRecord } from "./large-records.ts";
import type { SessionState } from "./session-state.ts";

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
  /** Of the newest run. */
  readonly run?: { readonly id: RunId; readonly status: "working" | "suspended" | "ended"; readonly reason?: string };
}

/** The sessions that a log holds. Every change is a record; nothing is rewritten. */
export interface Sessions {
  create(options?: {
    readonly id?: string;
    readonly name?: string;
    readonly tags?: readonly string[];
    readonly agent?: string;
  }): Promise<SessionId>;
  /** Newest first. Sessions of child runs are left out unless asked for. */
  list(options?: { readonly children?: boolean }): Promise<readonly SessionMetadata[]>;
  get(id: string): Promise<SessionView>;
  /** A new session that shares the history up to the end of turn number `turn` (default: the last that is complete). */
  fork(id: string, options?: { readonly name?: string; readonly turn?: number }): Promise<SessionId>;
  /** Takes back all but the first `turns` turns of the conversation. The log keeps what was. */
  rewind(id: string, turns: number): Promise<void>;
  rename(id: string, name: string): Promise<void>;
  /** A tag that is there already is not added again. */
  tag(id: string, tag: string): Promise<void>;
  /** With its inbox. Refused while forks share its history. */
  delete(id: string): Promise<void>;
  /** The durable events of all its runs after `after`. */
  events(id: string, options?: { readonly after?: number }): AsyncIterable<AgentEvent>;
}

export function createSessions(options: SessionsOptions): Sessions {
  const { log, blobs } = options;
  const sessions: Sessions = {
    async create({ id, name, tags, agent } = {}) {
      const session = (id ?? options.newId()) as SessionId;
      checkSessionId(session);
      if ((await log.head(sessionLog(session))) > 0)
        throw sessionError(session, `There is a session "${session}" already. Choose another id, or go on with that one.`);
      await write(
        session,
        "create",
        "session-create",
        { ...(name !== undefined && { name }), ...(tags && { tags }), ...(agent !== undefined && { agent }) },
        false,
      );
      return session;
    },

    async list({ children = false } = {}) {
      const found: SessionMetadata[] = [];
      for await (const session of sessionIds(log)) {
        if (!children && session.includes(CHILD_MARK)) continue;
        found.push(metadataOf(await foldSession(log, blobs, session)));
      }
      return found.toSorted((a, b) => b.updatedAt - a.updatedAt);
    },

    async get(id) {
      const state = await fold(id);
      const { run } = state;
      const reason = run?.end?.reason ?? run?.suspendReason;
      return {
        metadata: metadataOf(state),
        messages: state.conversation.messages,
        ...(run && { run: { id: run.id, status: run.status, ...(reason && { reason }) } }),
      };
    },

    async fork(id, { name, turn } = {}) {
      const state = await fold(id);
      const count = state.turnBorders.length;
      const wanted = turn ?? count;
      const border = state.turnBorders[wanted - 1];
      if (wanted !== 0 && border === undefined)
        throw sessionError(id, `Session "${id}" has ${count} complete turns; it can't be forked after turn ${wanted}.`);
      const session = options.newId();
      await write(
        session,
        "create",
        "session-create",
        { parent: { session: state.id, seq: border?.seq ?? 0 }, name: name ?? `${state.name ?? state.id} (fork)`, agent: state.agent },
        false,
      );
      return session;
    },

    async rewind(id, turns) {
      const state = await fold(id);
      if (state.run && state.run.status !== "ended")
        throw sessionError(id, `Session "${id}" has a run that is not finished. Finish or abort it, then rewind.`);
      if (!Number.isInteger(turns) || turns < 0 || turns > state.turnBorders.length)
        throw sessionError(id, `Session "${id}" has ${state.turnBorders.length} turns; it can't be rewound to ${turns}.`);
      const length = turns === 0 ? 0 : (state.turnBorders[turns - 1]?.length ?? 0);
      await write(state.id, `rewind/${state.seq}`, "session-rewind", { turns, length });
    },

    async rename(id, name) {
      await write(id as SessionId, `rename/${options.newId()}`, "session-rename", { name });
    },

    async tag(id, tag) {
      if ((await fold(id)).tags.includes(tag)) return;
      await write(id as SessionId, `tag/${options.newId()}`, "session-tag", { tag });
    },

    async delete(id) {
      await fold(id);
      for await (const other of sessionIds(log)) {
        if ((await firstRecord(other))?.data["parent"] === undefined) continue;
        const parent = (await firstRecord(other))?.data["parent"] as { readonly session: string } | undefined;
        if (parent?.session === id)
          throw sessionError(id, `Session "${id}" shares its history with its fork "${other}". Delete that one first.`);
      }
      // Taking the lease makes sure that nobody works on it.
      const lease = await log.acquire(sessionLog(id), { owner: `${options.owner}:${options.newId()}`, ttlMs: options.leaseTtlMs });
      await log.delete(sessionLog(id));
      await log.delete(inboxLog(id));
      await lease.release();
    },

    async *events(id, { after = 0 } = {}) {
      for await (const record of log.read(sessionLog(id), { after })) {
        if (!isDurableEventType(record.type)) continue;
        const whole = await restoreLargeRecord(record, blobs);
        yield {
          ...whole.data,
          type: whole.type,
          seq: whole.seq,
          at: whole.at,
          runId: whole.key.slice(0, whole.key.indexOf("/")),
        } as unknown as AgentEvent;
      }
    },
  };
  return sessions;

  async function fold(id: string): Promise<SessionState> {
    if ((await log.head(sessionLog(id))) === 0) throw sessionError(id, `There is no session "${id}".`);
    return foldSession(log, blobs, id as SessionId);
  }

  async function firstRecord(session: SessionId): Promise<LogRecord | undefined> {
    for await (const record of log.read(sessionLog(session))) return record;
    return undefined;
  }

  async function write(session: SessionId, key: string, type: string, data: JsonObject, mustExist = true): Promise<void> {
    if (mustExist && (await log.head(sessionLog(session))) === 0) throw sessionError(session, `There is no session "${session}".`);
    const journal = await Journal.open({
      log,
      blobs,
      clock: options.clock,
      session,
      owner: `${options.owner}:${options.newId()}`,
      leaseTtlMs: options.leaseTtlMs,
      durability: "power",
      onCommitted: () => {},
      onLost: () => {},
    });
    try {
      journal.put(`session/${key}`, type, data, "power");
      await journal.flush();
    } finally {
      await journal.close();
    }
  }
}

/** Stands in the ids of sessions that belong to child runs. */
export const CHILD_MARK = "~";

/** @throws AgentError of kind `session` for an id that can't name a log */
export function checkSessionId(session: string): void {
  if (/^[\w.~:@-]{1,200}$/.test(session)) return;
  throw sessionError(session, `${JSON.stringify(session.slice(0, 80))} can't be a session id: use 1 to 200 letters, digits and . _ - : @`);
}

export function sessionError(session: string, message: string, cause?: unknown): AgentError {
  return new AgentError({ kind: "session", session, message }, cause === undefined ? {} : { cause });
}

/** All sessions of a log. */
export async function* sessionIds(log: EventLog): AsyncGenerator<SessionId> {
  const prefix = "session/";
  let after: string | undefined;
  for (;;) {
    const page = await log.list({ prefix, limit: 500, ...(after !== undefined && { after }) });
    for (const { log: id } of page) if (!id.endsWith("/inbox")) yield id.slice(prefix.length) as SessionId;
    after = page.at(-1)?.log;
    if (page.length < 500) return;
  }
}

export function metadataOf(state: SessionState): SessionMetadata {
  const { usage, cost, costKnown, turns } = state.totals;
  return {
    id: state.id,
    ...(state.name !== undefined && { name: state.name }),
    tags: [...state.tags],
    agentName: state.agent,
    createdAt: state.createdAt,
    updatedAt: state.at,
    turnCount: turns,
    totalTokens: (usage.inputTokens ?? 0) + (usage.outputTokens ?? 0),
    usage,
    cost: costKnown ? cost : null,
    ...(state.parent && { parent: state.parent }),
  };
}

import {
  AgentError,
  LogError,
  OrchestratorError,
  inboxLog,
  sessionLog,
  type Authority,
  type Content,
  type JsonObject,
  type JsonValue,
  type Orchestrator,
  type RunId,
  type SessionId,
  type Signal,
} from "@keelson/protocol";
import { narrowAuthority } from "../../agent/definition/permissions/narrow-authority.ts";
import { runnerInternals, type RunnerInternals } from "../../agent/runner/runner-internals.ts";
import type { Runner, SingleRunner } from "../../agent/runner/runner.ts";
import type { ActiveRun } from "../../agent/runner/active-run.ts";
import type { Agents } from "../../agent/definition/agent.ts";
import { shortHash } from "../../json/digest.ts";
import type { Clock } from "../../platform/clock.ts";
import { foldSession } from "../../session/fold-session.ts";
import { inboxRecord } from "../../session/inbox-record.ts";
import type { Sessions } from "../../session/sessions.ts";

export interface RunRequest {
  readonly operator: string;
  readonly message: readonly Content[];
  readonly metadata: JsonObject;
  /** The same on every attempt: asking twice starts once. */
  readonly key: string;
  /** Begins with the history of this session. */
  readonly after?: SessionId;
  readonly authority?: Authority;
  readonly signal: AbortSignal;
}

/** What effects ask of runs other than their own. */
export interface OtherRuns {
  /** Started, and worked to its end or its wait. @returns how it ended */
  delegate(request: RunRequest): Promise<JsonValue>;
  /** Started; it goes on alone. @returns which run */
  handOff(request: RunRequest): Promise<JsonValue>;
  /** @param key the same on every attempt: telling twice is telling once */
  signal(target: string, signal: Signal, key: string): Promise<void>;
}

/** Operators of an orchestrator. */
export function runsOfOrchestrator(orchestrator: Orchestrator): OtherRuns {
  const start = ({ operator, message, metadata, key, authority, signal }: RunRequest, detached: boolean): Promise<RunId> =>
    orchestrator.start(
      operator,
      { message, trigger: "task", metadata },
      { id: `r_${shortHash(key)}` as RunId, ...(authority && { authority: below(authority, operator) }), ...(!detached && { signal }) },
    );
  return {
    async delegate(request) {
      const run = await start(request, false);
      const { message, exitReason } = await orchestrator.attach(run);
      return { run, reason: exitReason.type, text: textOf(message) };
    },
    handOff: async (request) => ({ run: await start(request, true) }),
    signal: (target, signal) => orchestrator.signal(target, signal),
  };
}

/** Agents of a runner: each delegation is a run in a session of its own, which a second attempt finds. Targets of signals are sessions. */
export function runsOfRunner(runner: SingleRunner<never> | SingleRunner<unknown> | Runner<Agents>): OtherRuns {
  const inner = runnerInternals(runner);
  return {
    delegate: (request) =>
      whenFree(inner.services.clock, request.signal, async () => {
        const run = await begin(runner, inner, request);
        const abort = (): void => void run.abort().catch(() => {});
        request.signal.addEventListener("abort", abort, { once: true });
        if (request.signal.aborted) abort();
        try {
          const { reason, text, error } = await run.outcome;
          if (error) throw run.failure ?? error;
          return { run: run.id, session: run.session, reason, text };
        } finally {
          request.signal.removeEventListener("abort", abort);
        }
      }),
    handOff: (request) =>
      whenFree(inner.services.clock, request.signal, async () => {
        const run = await begin(runner, inner, request);
        // What was emitted is in the log: from here on it is found and gone on with, whatever becomes of this process.
        for await (const event of run.events({ after: 0 })) {
          if (event.type === "detached")
            throw run.failure ?? new OrchestratorError({ kind: "dispatch-failed", message: `"${request.operator}" could not be started.` });
          break;
        }
        return { run: run.id, session: run.session };
      }),
    async signal(target, signal, key) {
      const { log, durability } = inner.services;
      if ((await log.head(sessionLog(target as SessionId))) === 0)
        throw new OrchestratorError({ kind: "signal-failed", message: `There is no session "${target}" to signal.` });
      await log.append(inboxLog(target as SessionId), "any", [inboxRecord(`signal/${key}`, { type: "signal", signal })], {
        durability: durability ?? "power",
      });
    },
  };
}

async function begin(
  runner: { readonly sessions: Sessions },
  inner: RunnerInternals,
  { operator, message, metadata, key, after, authority }: RunRequest,
): Promise<ActiveRun<unknown>> {
  const agent = inner.find(operator);
  if (agent === undefined)
    throw new OrchestratorError({ kind: "operator-not-found", operator, available: [], message: `There is no agent "${operator}".` });
  const { log, blobs } = inner.services;
  const session = `s_${shortHash(key)}` as SessionId;
  const { run: known, parent } = await foldSession(log, blobs, session);
  if (known) return inner.resume(session);
  if (after !== undefined && parent === undefined) await runner.sessions.fork(after, { id: session });
  return inner.start(
    agent,
    message,
    { session, metadata },
    { id: `r_${shortHash(key)}` as RunId, ...(authority && { authority: below(authority, operator) }) },
  );
}

/** A session whose lease an earlier life of this process still holds is waited for. */
async function whenFree<T>(clock: Clock, signal: AbortSignal, run: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await run();
    } catch (error) {
      if (signal.aborted || !AgentError.is(error, "session") || !LogError.is(error.cause, "lease-held")) throw error;
      const waitMs = Math.min(MAX_LEASE_WAIT_MS, Math.max(MIN_LEASE_WAIT_MS, error.cause.failure.expiresAt - clock.now()));
      await new Promise<void>((resolve) => clock.after(waitMs, resolve));
    }
  }
}
const MIN_LEASE_WAIT_MS = 50;
const MAX_LEASE_WAIT_MS = 30_000;

/** @throws OrchestratorError of kind `dispatch-failed` where runs are nested too deep */
function below(authority: Authority, operator: string): Authority {
  if (authority.depth < 1)
    throw new OrchestratorError({
      kind: "dispatch-failed",
      message: `"${operator}" was not started: the limit of nested agents is reached.`,
    });
  return narrowAuthority(authority, { depth: authority.depth - 1 });
}

function textOf(content: readonly Content[]): string {
  return content.map((part) => (part.type === "text" ? part.text : "")).join("");
}

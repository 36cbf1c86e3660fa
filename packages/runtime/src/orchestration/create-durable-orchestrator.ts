import {
  LogError,
  OrchestratorError,
  sessionLog,
  toOrchestratorError,
  type Decision,
  type EventLog,
  type LogId,
  type Message,
  type Orchestrator,
  type OperatorOutput,
  type RunId,
  type SessionId,
  type Signal,
} from "@keelson/protocol";
import type { Agents } from "../agent/definition/agent.ts";
import { checkSignal } from "../agent/definition/signals/check-signals.ts";
import { followEnd } from "../agent/features/children/follow-end.ts";
import { outcomeOf } from "../agent/runner/outcome.ts";
import { runnerInternals } from "../agent/runner/runner-internals.ts";
import type { Runner, SingleRunner } from "../agent/runner/runner.ts";
import { writeToRun } from "../agent/runner/write-to-run.ts";
import { accountOf, operatorOutputOf } from "../agent/turn/operator-output.ts";
import { checkOptionNames } from "../json/option-names.ts";
import { foldSession } from "../session/fold-session.ts";
import { rootSession } from "../session/session-id.ts";
import type { SessionState } from "../session/session-state.ts";
import { dispatchTasks } from "./dispatch-tasks.ts";
import { dispatchedRun } from "./dispatched-run.ts";
import { checkMethodOptions, type MethodOptions } from "../json/check-method-options.ts";
import { ORCHESTRATOR_METHODS } from "../json/interface-methods.ts";
import { FLAG_OPTION } from "../json/option-rules.ts";

/** A runner of one agent or of several. */
export type AnyRunner = SingleRunner | SingleRunner<unknown> | Runner<Agents>;

export interface DurableOrchestratorOptions {
  /** Whose agents it starts, by name: a function, so that the runner can be made with this orchestrator. */
  readonly runner: () => AnyRunner;
  /**
   * Has `runner.advance(session)` called soon, in whatever process, until it says `waiting` or `done`; at the time that it says after
   * `at`. One at a time for a session: a session that is woken while it is advanced is advanced once more after that.
   */
  readonly wake: (session: SessionId) => Promise<void>;
}

/** An orchestrator whose runs go on without the process that started them. */
export interface DurableOrchestrator extends Orchestrator {
  wake(session: SessionId): Promise<void>;
  /** @param options.signal fires where nobody waits any more: it rejects as `cancelled`, and the run goes on */
  attach(id: RunId, options?: { readonly signal?: AbortSignal | undefined }): Promise<OperatorOutput>;
  /** @param options.key the same key again is the same signal, and tells nothing new */
  signal(target: RunId | string, signal: Signal, options?: { readonly key?: string | undefined }): Promise<void>;
  /** `runner.approve()`, after which the run is advanced. Rejects as that does, with AgentError. */
  approve(
    token: string,
    decision: Decision,
    options?: { readonly key?: string | undefined },
  ): Promise<{ readonly session: SessionId; readonly runId: RunId }>;
  /** `runner.steer()` of the session that a run works in. Rejects as `signal` does. */
  steer(
    target: RunId | string,
    message: string | Message,
    options?: { readonly interrupt?: boolean | undefined; readonly key?: string | undefined },
  ): Promise<void>;
}

const DURABLE_METHODS: MethodOptions<DurableOrchestrator> = {
  ...ORCHESTRATOR_METHODS,
  attach: [1, { signal: true }],
  signal: [2, { key: true }],
  approve: [2, { key: true }],
  steer: [2, { interrupt: FLAG_OPTION, key: true }],
};

/**
 * Whatever advances sessions, as an orchestrator of the agents of a runner: their logs hold all that there is to know, so that any
 * process with the same log starts them, waits for them and cancels them. An engine brings `wake` alone.
 *
 * ```ts
 * const orchestrator = createDurableOrchestrator({ runner: () => runner, wake: (session) => queue.push(session) });
 * const runner: SingleRunner = createRunner({ agent, log, orchestrator });
 * ```
 */
export function createDurableOrchestrator(options: DurableOrchestratorOptions): DurableOrchestrator {
  checkOptionNames("createDurableOrchestrator", options, { runner: true, wake: true });
  const { wake } = options;
  const inner = () => runnerInternals(options.runner());
  const orchestrator: DurableOrchestrator = {
    wake,

    start: (operator, input, { id: given, parent, parentSession, authority, deadline } = {}) =>
      atBoundary(async () => {
        const runner = inner();
        const agent = runner.find(operator);
        if (agent === undefined) throw unknownOperator(operator, runner.names());
        const { log, newId } = runner.services;
        const id = given ?? (`r_${newId()}` as RunId);
        const session = input.session ?? sessionNamedLike(id);
        if (input.session !== undefined) await keepAddress(log, id, session);
        const above = parent && { run: parent, ...(parentSession && { session: parentSession }) };
        const { options: runOptions, origin } = dispatchedRun(input, { deadline, authority, parent: above });
        await runner.begin(agent, session, input.message, { ...runOptions, id }, origin);
        await wake(session);
        return id;
      }),

    attach: (id, { signal = new AbortController().signal } = {}) =>
      atBoundary(async () => {
        const { log } = inner().services;
        const session = await addressOf(log, id);
        for (;;) {
          const state = await stateOf(id, session);
          if (state.run?.status === "ended") return outputOf(state);
          if (signal.aborted) throw new OrchestratorError({ kind: "cancelled", message: `Nobody waits for "${id}" any more; it goes on.` });
          await followEnd(log, session, signal);
        }
      }),

    cancel: (id, how) =>
      atBoundary(async () => {
        const session = await addressOf(inner().services.log, id);
        const { run } = await stateOf(id, session);
        if (run?.status !== "ended") await tell(session, `${how}/${id}`, { type: how });
      }),

    dispatch: async (operator, input, dispatchOptions) => orchestrator.attach(await orchestrator.start(operator, input, dispatchOptions)),

    dispatchMany: (tasks) => dispatchTasks(tasks, (task) => orchestrator.dispatch(task.operator, task.input, task.options)),

    signal: (target, signal, { key } = {}) =>
      atBoundary(async () =>
        tell(await openSession(target), `signal/${key ?? inner().services.newId()}`, { type: "signal", signal: checkSignal(signal) }),
      ),

    steer: (target, message, steering) =>
      atBoundary(async () => {
        const session = await openSession(target);
        await options.runner().steer(session, message, steering);
        await wakeWhereNobodyDid(session);
      }),

    async approve(token, decision, approving) {
      const decided = await options.runner().approve(token, decision, approving);
      // Children that work with their parent are taken up by it.
      await wakeWhereNobodyDid(rootSession(decided.session));
      return decided;
    },

    query: (target, { name }) =>
      atBoundary(async () => {
        const session = await addressOf(inner().services.log, target);
        const { run } = await stateOf(target, session);
        if (name !== "status")
          throw new OrchestratorError({ kind: "other", message: `Runs answer no query "${name}"; every one answers "status".` });
        const { status, agent, turn, waits, end } = run as NonNullable<typeof run>;
        return {
          status: status === "ended" ? (end?.reason === "error" ? "failed" : "done") : status === "suspended" ? "waiting" : "working",
          operator: agent,
          session,
          turn,
          waits: JSON.parse(JSON.stringify(waits)),
        };
      }),
  };
  return checkMethodOptions("orchestrator", orchestrator, DURABLE_METHODS);

  async function tell(session: SessionId, key: string, message: Parameters<typeof writeToRun>[3]): Promise<void> {
    await writeToRun(inner().services, session, key, message);
    await wakeWhereNobodyDid(session);
  }

  /** What is written to an inbox wakes its session by itself where the runner has an orchestrator that can. */
  async function wakeWhereNobodyDid(session: SessionId): Promise<void> {
    if (inner().services.orchestrator?.wake === undefined) await wake(session);
  }

  /** Of a run that is not over. */
  async function openSession(target: string): Promise<SessionId> {
    const session = await addressOf(inner().services.log, target);
    const { run } = await stateOf(target, session);
    if (run?.status !== "ended") return session;
    throw new OrchestratorError({ kind: "signal-failed", message: `"${target}" is over; it takes no signals any more.` });
  }

  /** Of a session, as it stood at the end of this run where others followed. */
  async function stateOf(id: string, session: SessionId): Promise<SessionState> {
    const { log, blobs } = inner().services;
    const state = await foldSession(log, blobs, session);
    if (state.run?.id === id) return state;
    for await (const { key, seq } of log.read(sessionLog(session)))
      if (key === `${id}/terminal`) return foldSession(log, blobs, session, seq);
    throw unknownRun(id);
  }
}

function outputOf(state: SessionState): OperatorOutput {
  return operatorOutputOf(outcomeOf(state, { type: "done" }), accountOf(state));
}

/** A run that was given no session has one of its name. */
function sessionNamedLike(id: string): SessionId {
  return id.replaceAll(/[^\w.:@-]/g, "_") as SessionId;
}

function addressLog(id: string): LogId {
  return `run/${id}` as LogId;
}

/** The session of a run that does not have one of its own name. */
async function keepAddress(log: EventLog, id: string, session: SessionId): Promise<void> {
  try {
    await log.append(addressLog(id), "any", [{ key: "session", type: "run-session", data: { session } }]);
  } catch (cause) {
    if (!LogError.is(cause, "conflict")) throw cause;
    throw new OrchestratorError(
      { kind: "dispatch-failed", message: `"${id}" was started in another session than "${session}".` },
      { cause },
    );
  }
}

async function addressOf(log: EventLog, id: string): Promise<SessionId> {
  for await (const { data } of log.read(addressLog(id))) return data["session"] as SessionId;
  const session = sessionNamedLike(id);
  if ((await log.head(sessionLog(session))) > 0) return session;
  throw unknownRun(id);
}

function unknownRun(id: string): OrchestratorError {
  return new OrchestratorError({
    kind: "workflow-not-found",
    workflow: id,
    message: `No run "${id}" was started on this log by an orchestrator.`,
  });
}

function unknownOperator(operator: string, available: readonly string[]): OrchestratorError {
  return new OrchestratorError({
    kind: "operator-not-found",
    operator,
    available,
    message: `There is no agent "${operator}"; there are ${available.join(", ")}.`,
  });
}

async function atBoundary<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    throw toOrchestratorError(error);
  }
}

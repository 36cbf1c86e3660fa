import {
  LogError,
  OrchestratorError,
  sessionLog,
  toOrchestratorError,
  type EventLog,
  type LogId,
  type Orchestrator,
  type OperatorOutput,
  type RunId,
  type SessionId,
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
import type { SessionState } from "../session/session-state.ts";
import { dispatchTasks } from "./dispatch-tasks.ts";
import { dispatchedRun } from "./dispatched-run.ts";

type AnyRunner = SingleRunner | SingleRunner<unknown> | Runner<Agents>;

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
}

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

    attach: (id) =>
      atBoundary(async () => {
        const { log } = inner().services;
        const session = await addressOf(log, id);
        for (;;) {
          const state = await stateOf(id, session);
          if (state.run?.status === "ended") return outputOf(state);
          await followEnd(log, session, new AbortController().signal);
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

    signal: (target, signal) =>
      atBoundary(async () => {
        const { log, newId } = inner().services;
        const session = await addressOf(log, target);
        const { run } = await stateOf(target, session);
        if (run?.status === "ended")
          throw new OrchestratorError({ kind: "signal-failed", message: `"${target}" is over; it takes no signals any more.` });
        await tell(session, `signal/${newId()}`, { type: "signal", signal: checkSignal(signal) });
      }),

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
  return orchestrator;

  async function tell(session: SessionId, key: string, message: Parameters<typeof writeToRun>[3]): Promise<void> {
    const { services } = inner();
    await writeToRun(services, session, key, message);
    // Else that has woken it.
    if (services.orchestrator?.wake === undefined) await wake(session);
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

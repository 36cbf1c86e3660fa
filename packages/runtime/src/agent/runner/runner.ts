import {
  AgentError,
  KeelsonError,
  isSuspendReason,
  sessionLog,
  type Decision,
  type Message,
  type OpenQuestion,
  type RunId,
  type SessionId,
  type Signal,
} from "@keelson/protocol";
import { Journal, type JournalWatcher } from "../../session/journal.ts";
import { sessionModel } from "../../session/session-model.ts";
import { sessionError } from "../../session/session-error.ts";
import { checkSessionId } from "../../session/session-id.ts";
import { createSessions, type Sessions } from "../../session/sessions.ts";
import type { Agent } from "../definition/agent.ts";
import { ActiveRun } from "./active-run.ts";
import { agentErrorOf, atAgentBoundary } from "../../session/log-failure.ts";
import { createApprovalTokens } from "../features/approvals/approval-token.ts";
import { checkDecisionShape } from "../features/approvals/check-decision.ts";
import { writeDecision } from "../features/approvals/write-decision.ts";
import { authorityOf } from "./create-loop.ts";
import { limitsOf } from "../definition/limits.ts";
import { createModelSource, modelName, modelsOf } from "../definition/model-source.ts";
import { forgetEndedSessions, notingSessions } from "./ended-sessions.ts";
import type { Next } from "../loop/run-turns.ts";
import { beginResumed, beginRun } from "./begin-run.ts";
import { checkBudgets, withBudgets } from "../definition/budget/check-budgets.ts";
import { checkRuleTools } from "../definition/permissions/check-rule-tools.ts";
import { narrowAuthority } from "../definition/permissions/narrow-authority.ts";
import { ANY_MODEL, checkImages, shownTo } from "./check-images.ts";
import { checkRun, checkRunnerOptions } from "./check-runner.ts";
import { checkModels, chooseAgent, collectAgents } from "./collect-agents.ts";
import { listQuestions } from "../features/approvals/list-questions.ts";
import type { Recovery } from "./recover-runs.ts";
import type { Run, RunInput, RunOptions, RunOrigin } from "../definition/run.ts";
import { budgetsOf, termsOf } from "./run-terms.ts";
import { checkSignal } from "../definition/signals/check-signals.ts";
import { steeringMessage } from "./steering-message.ts";
import { writeToRun } from "./write-to-run.ts";
import type { Moments } from "../turn/moments.ts";
import type { RunnerServices } from "../turn/runner-services.ts";
import type { Agents } from "../definition/agent.ts";

export type OutputOf<A> = A extends Agent<infer Out> ? Out : never;

interface RunnerBase {
  readonly sessions: Sessions;
  /**
   * Goes on with a run that is suspended or whose process died, under the same id. Of a run that is over it gives the outcome.
   * Rejects with AgentError `session` when there is no run, or another process works on it.
   */
  resume(session: string, options?: { readonly signal?: AbortSignal }): Promise<Run<unknown>>;
  /**
   * Resumes all runs that no process works on and that have something to do. One that can't be resumed is told of, and keeps no
   * other from going on. Rejects only where the log can't say which sessions there are.
   * @param options.concurrency default 4
   */
  recover(options?: { readonly concurrency?: number }): Promise<Recovery>;
  /**
   * Decides a question, from any process. The run goes on by itself where it is at work, else at the next `resume`.
   * Rejects with AgentError `invalid-token` for a token that is malformed, forged, expired or used.
   */
  approve(token: string, decision: Decision): Promise<{ readonly session: SessionId; readonly runId: RunId }>;
  readonly approvals: {
    /**
     * The open questions of all sessions, those of child agents too: each can be decided with its `token`, and its run goes on where
     * `rootSession` is resumed. What was decided, or expired, is not among them.
     */
    list(): Promise<readonly OpenQuestion[]>;
  };
  /**
   * Tells the run of a session what happened outside, from any process: it goes into the inbox, which a run that is at work
   * reads it soon, one that waits reads it when it is resumed. The run's signal routes decide what becomes of it.
   * Rejects with AgentError `session` when there is no run, or it is over.
   * @param options.key the same key again is the same signal, and tells nothing new
   */
  signal(session: string, signal: Signal, options?: { readonly key?: string }): Promise<void>;
  /** `run.stop()` of a session's run, from any process. It reaches the run as a signal does, and rejects alike. */
  stop(session: string): Promise<void>;
  /** `run.abort()`, likewise. */
  abort(session: string, reason?: string): Promise<void>;
  /** `run.steer()`, likewise. */
  steer(session: string, message: string | Message, options?: { readonly interrupt?: boolean }): Promise<void>;
  /** Works at most one turn of the session's run, and says what comes next: what an engine calls, one at a time, until done. */
  advance(session: string, options?: { readonly signal?: AbortSignal }): Promise<{ readonly seq: number; readonly next: Next }>;
}

/** Runs of one agent. */
export interface SingleRunner<Out = unknown> extends RunnerBase {
  run(input: RunInput, options?: RunOptions): Run<Out>;
}

/** Runs of several agents, by name. */
export interface Runner<A extends Agents> extends RunnerBase {
  run<N extends keyof A & string>(input: RunInput, options: RunOptions & { readonly agent: N }): Run<OutputOf<A[N]>>;
}

function earlier(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined ? b : b === undefined ? a : Math.min(a, b);
}

/** What orchestrators and children need beside what users do. */
export interface RunnerInternals {
  resume(session: string): Promise<ActiveRun<unknown>>;
  start(agent: Agent<unknown>, input: RunInput, options: RunOptions, origin: RunOrigin): ActiveRun<unknown>;
  find(name: string): Agent<unknown> | undefined;
  /** Of all its agents. */
  names(): readonly string[];
  readonly services: RunnerServices;
}

const internals = new WeakMap<object, RunnerInternals>();

/** @throws AgentError when this is no runner of this package */
export function runnerInternals(runner: RunnerBase): RunnerInternals {
  const found = internals.get(runner);
  if (found === undefined)
    throw new AgentError({ kind: "invalid-option", option: "runner", message: "This is no runner: make one with createRunner." });
  return found;
}

interface ChosenModel {
  readonly model: string;
  /** Why it is not the one that was set for the session. */
  readonly missing?: string;
}

/** The model of a run that names none: the one that was set for the session, where this runner has it, else the agent's own. */
async function modelFor(journal: Journal, agent: Agent<unknown>, services: RunnerServices): Promise<ChosenModel> {
  const own = modelName(agent.options.model);
  const model = sessionModel(journal.state, agent.name, await journal.readInbox());
  if (model === undefined) return { model: own };
  try {
    modelsOf(agent, services.models).resolve(model);
    return { model };
  } catch (error) {
    if (!AgentError.is(error, "model")) throw error;
    return { model: own, missing: `The model that was set for this session is not to be had, so ${own} is asked: ${error.message}` };
  }
}

const DEFAULT_LEASE_TTL_MS = 30_000;

/**
 * Binds agents to services; it fills in nothing that is left out.
 * @throws AgentError of kind `invalid-option` for a model that can't be found, a money limit on a model without a price, or a
 * fallback on another wire
 * @param moments what its runs do when; default: `MOMENTS`
 */
export function createRunnerWith<Out>(services: RunnerServices & { readonly agent: Agent<Out> }, moments?: Moments): SingleRunner<Out>;
export function createRunnerWith<A extends Agents>(services: RunnerServices & { readonly agents: A }, moments?: Moments): Runner<A>;
export function createRunnerWith(
  services: RunnerServices & { readonly agent?: Agent<unknown>; readonly agents?: Agents },
  moments?: Moments,
): SingleRunner<unknown> | Runner<Agents> {
  checkRunnerOptions(services);
  const agents = collectAgents(services);
  if (services.budgets) checkBudgets(services.budgets);
  for (const agent of agents.values()) checkModels(agent, services);
  const tools = [...agents.values()].flatMap((agent) => [...agent.tools, ...(agent.options.tools ?? [])]);
  for (const agent of agents.values()) checkRuleTools(agent.options.permissions?.rules ?? [], tools);
  const { log, blobs, clock, owner, leaseTtlMs = DEFAULT_LEASE_TTL_MS } = services;
  const forgetting = services.keepEndedSessions === undefined ? undefined : forgetEndedSessions(log, services.keepEndedSessions);
  const allSessions = createSessions({ log, blobs, clock, owner, leaseTtlMs, newId: () => services.newId() as SessionId });
  const sessions = forgetting ? notingSessions(allSessions, forgetting) : allSessions;
  const tokens = createApprovalTokens({ keys: services.approvalKeys, now: () => clock.now() });

  const open =
    (session: SessionId) =>
    (watcher: JournalWatcher): Promise<Journal> =>
      // Each stretch of work is an owner of its own: two runs of one process exclude each other too.
      Journal.open({
        log,
        blobs,
        clock,
        session,
        owner: `${owner}:${services.newId()}`,
        leaseTtlMs,
        durability: services.durability ?? "power",
        watcher,
      });

  const inner: RunnerInternals = {
    services,
    resume: (session) => openRun(session, { asChild: true }),
    find: (name) => agents.get(name),
    names: () => [...agents.keys()],
    start(agent, input, options, origin) {
      const session = (options.session ?? services.newId()) as SessionId;
      checkSessionId(session, { child: origin.parent !== undefined });
      const id = origin.id ?? (`r_${services.newId()}` as RunId);
      if (options.model !== undefined) createModelSource([agent.options.model], services.models).resolve(options.model);
      // What a parent passes on was looked at where it came in.
      if (origin.parent === undefined) checkImages("input", input, shownTo(agent, services, options.model));
      const own = authorityOf(agent, services, origin.authority);
      const unbudgeted = origin.allowedTools === undefined ? own : narrowAuthority(own, { allowedTools: origin.allowedTools });
      const limits = limitsOf(agent.options.limits, options.limits, unbudgeted);
      const authority = withBudgets(unbudgeted, { id, limits, shared: services.budgets, given: options.budgets });
      const deadline = earlier(options.deadline, authority.deadline);
      let chosen: ChosenModel = { model: options.model ?? modelName(agent.options.model) };
      return new ActiveRun<unknown>({
        runner: inner,
        moments,
        agent,
        id,
        session,
        authority,
        limits,
        ...(deadline !== undefined && { deadline }),
        ...(options.signal && { signal: options.signal }),
        ...(origin.parent && { parent: origin.parent }),
        ...(origin.onLifecycleEvent && { onLifecycleEvent: (event) => origin.onLifecycleEvent?.(event) }),
        open: open(session),
        prepare: async (journal) => {
          if (options.model === undefined) chosen = await modelFor(journal, agent, services);
        },
        begin: async (journal, loop) => {
          const { model, missing } = chosen;
          await beginRun(journal, {
            id,
            agent,
            model,
            input,
            options: deadline === undefined ? options : { ...options, deadline },
            origin,
            limits,
            authority,
            ...(authority.budgets && { ledger: services.ledger.id }),
          });
          if (missing !== undefined) loop.execution.emit({ type: "status", status: missing, level: "warn" });
        },
      });
    },
  };

  /** Takes up the run of a session. */
  async function openRun(
    session: string,
    options: { readonly signal?: AbortSignal; readonly turns?: number; readonly asChild?: boolean },
  ): Promise<ActiveRun<unknown>> {
    checkSessionId(session, { child: true });
    if ((await log.head(sessionLog(session as SessionId))) === 0) throw sessionError(session, `There is no session "${session}".`);
    // The lease comes first, so that a session on which another process works is refused here. The run takes over as soon as it is there.
    const relay: { to?: JournalWatcher } = {};
    const journal = await open(session as SessionId)({
      committed: (records) => relay.to?.committed(records),
      lost: (error) => relay.to?.lost(error),
    }).catch((error: unknown) => {
      // Nothing was done yet but to read and fold: what stumbles here stumbles over what the log holds.
      if (error instanceof KeelsonError) throw agentErrorOf(session as SessionId, error);
      throw new AgentError(
        { kind: "backend", message: `The log of session "${session}" holds what no run wrote: restore it from a backup.` },
        { cause: error },
      );
    });
    try {
      return takeUp(session as SessionId, journal, relay, options);
    } catch (error) {
      await journal.close();
      throw error;
    }
  }

  function takeUp(
    session: SessionId,
    journal: Journal,
    relay: { to?: JournalWatcher },
    options: { readonly signal?: AbortSignal; readonly turns?: number; readonly asChild?: boolean },
  ): ActiveRun<unknown> {
    const { run } = journal.state;
    if (run === undefined) throw sessionError(session, `Session "${session}" has no run to go on with.`);
    const agent = agents.get(run.agent);
    if (agent === undefined)
      throw sessionError(
        session,
        `The run of session "${session}" belongs to the agent "${run.agent}", which this runner does not have (it has ${[...agents.keys()].join(", ")}).`,
      );
    const { limits, authority } = termsOf(run, agent, services);
    const deadline = run.terms?.deadline;
    return new ActiveRun<unknown>({
      runner: inner,
      moments,
      agent,
      id: run.id,
      session,
      authority,
      limits,
      ...(deadline !== undefined && { deadline }),
      ...(options.signal && { signal: options.signal }),
      ...(options.turns !== undefined && { turns: options.turns }),
      ...(run.parent && { parent: run.parent }),
      async open(own) {
        relay.to = own;
        return journal;
      },
      begin: (_journal, loop) =>
        beginResumed(journal, loop, agent, {
          ...inner,
          budgetsOf: (run, itsAgent) => budgetsOf(run, itsAgent, services),
          turnByTurn: options.turns !== undefined,
          asChild: options.asChild === true,
        }),
    });
  }

  const base: RunnerBase = {
    sessions,

    resume: (session, options = {}) => atAgentBoundary(session, () => openRun(session, options)),

    async recover({ concurrency = 4 } = {}) {
      const { recoverRuns } = await import("./recover-runs.ts");
      return recoverRuns(services, { has: (name) => agents.has(name), resume: base.resume, concurrency });
    },

    async approve(token, decision) {
      const claims = tokens.verify(token);
      checkDecisionShape(decision);
      await atAgentBoundary(claims.session, () => writeDecision(services, claims, decision));
      return { session: claims.session, runId: claims.runId };
    },

    approvals: { list: () => listQuestions(services) },

    signal: async (session, signal, { key = services.newId() } = {}) =>
      writeToRun(services, session, `signal/${key}`, { type: "signal", signal: checkSignal(signal) }),

    stop: (session) => writeToRun(services, session, `stop/${services.newId()}`, { type: "stop" }),

    abort: (session, reason) =>
      writeToRun(services, session, `abort/${services.newId()}`, { type: "abort", ...(reason !== undefined && { reason }) }),

    async steer(session, message, { interrupt = false } = {}) {
      const steering = steeringMessage(message);
      checkImages("message", steering.content, ANY_MODEL);
      await writeToRun(services, session, `steer/${services.newId()}`, { type: "steer", message: steering, interrupt });
    },

    async advance(session, options = {}) {
      const active = await atAgentBoundary(session, () => openRun(session, { ...options, turns: 1 }));
      const outcome = await active.outcome;
      if (
        outcome.error?.failure.kind === "detached" ||
        outcome.error?.failure.kind === "backend" ||
        outcome.error?.failure.kind === "session"
      )
        throw outcome.error;
      return { seq: await atAgentBoundary(session, () => log.head(sessionLog(session))), next: active.next };
    },
  };

  const runner = {
    ...base,
    run(input: RunInput, options: RunOptions & { readonly agent?: string } = {}): Run<unknown> {
      checkRun(input, options);
      const agent = chooseAgent(services, options.agent);
      const run = inner.start(agent, input, options, {});
      if (options.session !== undefined) forgetting?.keep(options.session);
      else if (forgetting) void run.outcome.then(({ reason }) => (isSuspendReason(reason) ? undefined : forgetting.ended(run.session)));
      return run;
    },
  };
  internals.set(runner, inner);
  return runner as SingleRunner<unknown>;
}

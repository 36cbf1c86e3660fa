import {
  isSuspendReason,
  type Decision,
  type EffortLevel,
  type Message,
  type OpenQuestion,
  type PermissionMode,
  type RunId,
  type SessionId,
  type Signal,
} from "@keelson/protocol";
import type { Xray } from "../../context/xray/xray-request.ts";
import type { SessionXrayOptions } from "./xray-session.ts";
import { createSessions, type Sessions } from "../../session/sessions.ts";
import type { Agent } from "../definition/agent.ts";
import { atAgentBoundary } from "../../session/log-failure.ts";
import { createApprovalTokens } from "../features/approvals/approval-token.ts";
import { checkDecisionShape } from "../features/approvals/check-decision.ts";
import { writeDecision } from "../features/approvals/write-decision.ts";
import { forgetEndedSessions, notingSessions } from "./ended-sessions.ts";
import { checkMethodOptions, type MethodOptions } from "../../json/check-method-options.ts";
import { advanceRun, type Advanced } from "./advance-run.ts";
import { beginOnly } from "./begin-only.ts";
import { checkBudgets } from "../definition/budget/check-budgets.ts";
import { invalidOption, shown } from "../definition/invalid-option.ts";
import { hasSources } from "../definition/tool-sources/has-sources.ts";
import { checkPermissionMode } from "../definition/permissions/check-permissions.ts";
import { checkRuleTools } from "../definition/permissions/check-rule-tools.ts";
import { checkEffort } from "../definition/check-settings.ts";
import { ANY_MODEL, checkImages } from "./check-images.ts";
import { checkRun, checkRunnerOptions } from "./check-runner.ts";
import { checkModels, chooseAgent, collectAgents } from "./collect-agents.ts";
import { listQuestions } from "../features/approvals/list-questions.ts";
import type { Recovery } from "./recover-runs.ts";
import type { BeginOptions, Run, RunInput, RunOptions } from "../definition/run.ts";
import { checkSignal } from "../definition/signals/check-signals.ts";
import { compactMessage } from "./compact-message.ts";
import { steeringMessage } from "./steering-message.ts";
import { DEFAULT_LEASE_TTL_MS } from "./open-journal.ts";
import { createInternals } from "./create-internals.ts";
import { rehearse, type Rehearsal } from "./rehearsal/rehearse.ts";
import type { RehearseOptions } from "./rehearsal/rehearse-options.ts";
import { keepInternals } from "./runner-internals.ts";
import { takeUpRun } from "./take-up-run.ts";
import { writeToRun } from "./write-to-run.ts";
import type { Moments } from "../turn/moments.ts";
import type { RunnerServices } from "../turn/runner-services.ts";
import type { Agents } from "../definition/agent.ts";
import type { ContextFactory, ContextOf } from "../definition/tool-context/context-factory.ts";
import { checkContext } from "./check-context.ts";
import { FLAG_OPTION, POSITIVE_OPTION } from "../../json/option-rules.ts";

export type OutputOf<A> = A extends Agent<infer Out, never> ? Out : never;

/** The runner makes what its agents need. */
export type ContextOption<Context> = unknown extends Context ? unknown : { readonly context: ContextFactory<Context> };

interface RunnerBase {
  readonly sessions: Sessions;
  /**
   * Says of every token of a session's request where it comes from, what it costs and whether it was cached: of the request that a run
   * of it would make now, or of the `last`, as its vendor counted it. Rejects with AgentError `session` where there was no run.
   */
  xray(session: string, options?: SessionXrayOptions): Promise<Xray>;
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
   * @param options.key the same key again is the same decision, and decides nothing new: for whoever can't know whether he was heard
   */
  approve(
    token: string,
    decision: Decision,
    options?: { readonly key?: string | undefined },
  ): Promise<{ readonly session: SessionId; readonly runId: RunId }>;
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
  signal(session: string, signal: Signal, options?: { readonly key?: string | undefined }): Promise<void>;
  /** `run.stop()` of a session's run, from any process. It reaches the run as a signal does, and rejects alike. */
  stop(session: string): Promise<void>;
  /** `run.interrupt()`, likewise. */
  interrupt(session: string, reason?: string): Promise<void>;
  /** `run.abort()`, likewise. */
  abort(session: string, reason?: string): Promise<void>;
  /** `run.setPermissionMode()` of a session's run, from any process. It reaches the run as a signal does, and rejects alike. */
  setPermissionMode(session: string, mode: PermissionMode): Promise<void>;
  /** `run.setEffort()`, likewise; whether the model takes the effort is found out by its next call. */
  setEffort(session: string, effort: EffortLevel | null): Promise<void>;
  /** `run.compact()` of a session, from any process, also after the end of its run. Rejects with AgentError `session` if there is no run. */
  compact(session: string, options?: { readonly keep?: string | undefined; readonly key?: string | undefined }): Promise<void>;
  /** `run.steer()`, likewise. */
  steer(
    session: string,
    message: string | Message,
    options?: { readonly interrupt?: boolean | undefined; readonly key?: string | undefined },
  ): Promise<void>;
  /**
   * Works at most one turn of the session's run, and says what comes next: what an engine calls, one at a time, until done. It holds
   * the lease for that long only. A repeated call finds in the log what is done; of a run that waits, and has nothing to go on with yet,
   * nothing is written. Rejects with AgentError `session`, `backend` or `detached` where the log or the lease failed: then it is to be
   * called again, later.
   * @param options.signal fires where the caller lets go: the turn is cut off, nothing more is written, and the next call goes on with it
   */
  advance(session: string, options?: { readonly signal?: AbortSignal }): Promise<Advanced>;
  /**
   * What would become of open sessions if this build went on with them: for a check before a deployment. Each is folded, and resumed on
   * a copy of its log in memory up to where code of the user, a model, a tool or a person would be asked. Nothing is written, no lease is
   * taken, and no model, tool, hook or callback is called. One session is held in memory at a time.
   * @param options.sessions default: all that have a run that is not over
   * @param options.signal ends it between two sessions
   */
  rehearse(options?: RehearseOptions): Rehearsal;
}

/** Runs of one agent. */
export interface SingleRunner<Out = unknown> extends RunnerBase {
  run(input: RunInput, options?: RunOptions): Run<Out>;
  /**
   * Writes the start of a run, and works nothing of it: `advance` does, here or in another process. What `run()` throws or gives
   * as a failed outcome, this rejects with.
   */
  begin(session: string, input: RunInput, options?: BeginOptions): Promise<RunId>;
}

/** Runs of several agents, by name. */
export interface Runner<A extends Agents<never>> extends RunnerBase {
  run<N extends keyof A & string>(input: RunInput, options: RunOptions & { readonly agent: N }): Run<OutputOf<A[N]>>;
  /** As of a runner of one agent. */
  begin<N extends keyof A & string>(session: string, input: RunInput, options: BeginOptions & { readonly agent: N }): Promise<RunId>;
}

/** Those of `run` and `begin` are checked with their values. */
const RUNNER_METHODS: MethodOptions<RunnerBase> = {
  xray: [1, { request: true, systemFiles: true }],
  resume: [1, { signal: true }],
  recover: [0, { concurrency: POSITIVE_OPTION }],
  approve: [2, { key: true }],
  signal: [2, { key: true }],
  compact: [1, { keep: true, key: true }],
  steer: [2, { interrupt: FLAG_OPTION, key: true }],
  advance: [1, { signal: true }],
  rehearse: [0, { sessions: true, signal: true }, "throws"],
};

/**
 * Binds agents to services; it fills in nothing that is left out.
 * @throws AgentError of kind `invalid-option` for a model that can't be found, a money limit on a model without a price, or a
 * fallback on another wire
 * @param moments what its runs do when; default: `MOMENTS`
 */
export function createRunnerWith<Out, Context = unknown>(
  services: RunnerServices & { readonly agent: Agent<Out, Context> } & ContextOption<Context>,
  moments?: Moments,
): SingleRunner<Out>;
export function createRunnerWith<A extends Agents<never>>(
  services: RunnerServices & { readonly agents: A } & ContextOption<ContextOf<A[keyof A]>>,
  moments?: Moments,
): Runner<A>;
// The compiler explains the last overload if none fits: the first one again, so that it names what one agent lacks, such as `context`.
export function createRunnerWith<Out, Context = unknown>(
  services: RunnerServices & { readonly agent: Agent<Out, Context> } & ContextOption<Context>,
  moments?: Moments,
): SingleRunner<Out>;
export function createRunnerWith(
  services: RunnerServices & { readonly agent?: Agent<unknown>; readonly agents?: Agents<never> },
  moments?: Moments,
): SingleRunner<unknown> | Runner<Agents<never>> {
  checkRunnerOptions(services);
  const agents = collectAgents(services);
  checkContext(services);
  if (services.budgets) checkBudgets(services.budgets);
  for (const agent of agents.values()) checkModels(agent, services);
  const tools = [...agents.values()].flatMap((agent) => [...agent.tools, ...(agent.options.tools ?? [])]);
  const comesLater = [...agents.values()].some(({ options }) => hasSources(options));
  for (const agent of agents.values()) checkRuleTools(agent.options.permissions?.rules ?? [], tools, { comesLater });
  const { log, blobs, clock, owner, leaseTtlMs = DEFAULT_LEASE_TTL_MS, state, forgetSession } = services;
  const forgetting = services.keepEndedSessions === undefined ? undefined : forgetEndedSessions(log, services.keepEndedSessions);
  const allSessions = createSessions({
    log,
    blobs,
    clock,
    owner,
    leaseTtlMs,
    newId: () => services.newId() as SessionId,
    state,
    forgetSession,
  });
  const sessions = forgetting ? notingSessions(allSessions, forgetting) : allSessions;
  const tokens = createApprovalTokens({ keys: services.approvalKeys, now: () => clock.now() });

  const inner = createInternals({ services, moments, find: (name) => agents.get(name), names: () => [...agents.keys()] });

  const base: RunnerBase = {
    sessions,

    async xray(session, options = {}) {
      const { xraySession } = await import("./xray-session.ts");
      return atAgentBoundary(session as SessionId, () => xraySession(services, (name) => agents.get(name), session, options));
    },

    resume: (session, options = {}) => atAgentBoundary(session, () => takeUpRun(inner, session, options)),

    async recover({ concurrency = 4 } = {}) {
      const { recoverRuns } = await import("./recover-runs.ts");
      return recoverRuns(services, { has: (name) => agents.has(name), resume: base.resume, concurrency });
    },

    async approve(token, decision, { key } = {}) {
      const claims = tokens.verify(token);
      checkDecisionShape(decision);
      await atAgentBoundary(claims.session, () => writeDecision(services, claims, decision, key));
      return { session: claims.session, runId: claims.runId };
    },

    approvals: { list: () => listQuestions(services) },

    signal: async (session, signal, { key = services.newId() } = {}) =>
      writeToRun(services, session, `signal/${key}`, { type: "signal", signal: checkSignal(signal) }),

    stop: (session) => writeToRun(services, session, `stop/${services.newId()}`, { type: "stop" }),

    interrupt: (session, reason) =>
      writeToRun(services, session, `stop/${services.newId()}`, {
        type: "stop",
        interrupt: true,
        ...(reason !== undefined && { reason }),
      }),

    abort: (session, reason) =>
      writeToRun(services, session, `abort/${services.newId()}`, { type: "abort", ...(reason !== undefined && { reason }) }),

    async setPermissionMode(session, mode) {
      checkPermissionMode("mode", mode);
      await writeToRun(services, session, `set-permission-mode/${services.newId()}`, { type: "set-permission-mode", mode });
    },

    async setEffort(session, effort) {
      if (effort !== null) checkEffort(effort);
      await writeToRun(services, session, `set-effort/${services.newId()}`, { type: "set-effort", effort });
    },

    async compact(session, { key = services.newId(), ...options } = {}) {
      await writeToRun(services, session, `compact/${key}`, compactMessage("runner.compact", options), { afterEnd: true });
    },
    async steer(session, message, { interrupt = false, key = services.newId() } = {}) {
      const steering = steeringMessage(message);
      checkImages("message", steering.content, ANY_MODEL);
      await writeToRun(services, session, `steer/${key}`, { type: "steer", message: steering, interrupt });
    },

    advance: (session, options = {}) => advanceRun(inner, session, options),

    rehearse: (options = {}) => rehearse(inner, options),
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
    async begin(session: string, input: RunInput, options: BeginOptions & { readonly agent?: string } = {}): Promise<RunId> {
      const { id, ...runOptions } = options;
      if (id !== undefined && (typeof id !== "string" || id === "")) throw invalidOption("id", `must be the id of a run, not ${shown(id)}`);
      checkRun(input, { ...runOptions, session });
      forgetting?.keep(session);
      return beginOnly(inner, chooseAgent(services, options.agent), session, input, options);
    },
  };
  keepInternals(runner, inner);
  return checkMethodOptions("runner", runner as SingleRunner<unknown>, RUNNER_METHODS);
}

import {
  AgentError,
  LogError,
  type AgentEvent,
  type EffortLevel,
  type InboxMessage,
  type LogRecord,
  type Message,
  type PermissionMode,
  type RunId,
  type SessionId,
  type Signal,
} from "@keelson/protocol";
import type { Journal, JournalWatcher } from "../../session/journal.ts";
import { restoreLargeRecord } from "../../session/large-records.ts";
import type { SessionState } from "../../session/session-state.ts";
import type { Agent } from "../definition/agent.ts";
import { PendingApprovals } from "../features/approvals/pending-approvals.ts";
import { retireRunBudget } from "../features/budget/charge-budget.ts";
import { emitLifecycleEvents } from "../features/budget/emit-lifecycle-events.ts";
import { checkImages, shownTo } from "./check-images.ts";
import { decideHere, isOpenQuestion } from "../features/approvals/decide-here.ts";
import { settleBackground } from "../features/children/await-background.ts";
import { backgroundOf } from "../features/children/background.ts";
import type { ChildView } from "../definition/child-view.ts";
import type { DebugTrace } from "./debug-trace.ts";
import { EventHub } from "../turn/events/event-hub.ts";
import { agentErrorOf } from "../../session/log-failure.ts";
import { closeEnvironment } from "../features/environment/run-environment.ts";
import { closeToolContext, inheritedContextOf } from "../features/tool-context/run-tool-context.ts";
import type { HeldContext } from "../definition/tool-context/held-context.ts";
import { closeToolSources } from "../features/tool-sources/run-sources.ts";
import { hooksOf } from "../features/hooks/loop-hooks.ts";
import { notified } from "../features/hooks/notification-hooks.ts";
import { checkOptionNames } from "../../json/option-names.ts";
import { compactMessage } from "./compact-message.ts";
import { steeringMessage } from "./steering-message.ts";
import type { ActiveRunOptions } from "./active-run-options.ts";
import { guideToOutcome } from "./guide-to-outcome.ts";
import { openLoop } from "./open-loop.ts";
import { writeToOpenRun } from "./write-to-run.ts";
import { wakeSession } from "../turn/wake-session.ts";
import type { Loop } from "../turn/loop.ts";
import type { LiveRun, ParentRun } from "../turn/live-run.ts";
import { runTurns, type Next } from "../loop/run-turns.ts";
import { PartialOutputs } from "../features/output/partial-outputs.ts";
import { invalidOption, shown } from "../definition/invalid-option.ts";
import type { PartialValue } from "../definition/output/partial-value.ts";
import { accountOf, type RunAccount } from "../turn/operator-output.ts";
import { createModelSource, modelsOf } from "../definition/model-source.ts";
import { checkEffort } from "../definition/check-settings.ts";
import { checkPermissionMode } from "../definition/permissions/check-permissions.ts";
import { effortProblem } from "../../providers/fit-request.ts";
import { outcomeOf } from "./outcome.ts";
import type { PendingApproval, Run, RunOutcome } from "../definition/run.ts";
import { RunChildren } from "./run-children.ts";
import { RunInterrupts } from "./run-interrupts.ts";
import { checkSignal } from "../definition/signals/check-signals.ts";
import { meterOf } from "../features/budget/budget-meter.ts";
import { outputOf } from "../features/output/run-output.ts";
import { describeThrown } from "../../tools/describe-thrown.ts";
import { FLAG_OPTION } from "../../json/option-rules.ts";

/** A run at work in this process: drives the loop turn by turn, and is the handle that users hold. */
export class ActiveRun<Out> implements Run<Out>, LiveRun, ParentRun, JournalWatcher {
  readonly id: RunId;
  readonly session: SessionId;
  readonly outcome: Promise<RunOutcome<Out>>;
  readonly hub: EventHub;
  /** Why this process left the run where it was, once it did: the run has no end in the log, and goes on elsewhere or later. */
  failure: AgentError | undefined;
  /** What comes next, when the work was limited to some turns. */
  next: Next = { type: "now" };
  readonly #options: ActiveRunOptions<Out>;
  readonly #interrupts: RunInterrupts;
  readonly #pendingApprovals: PendingApprovals;
  readonly #partials: PartialOutputs | undefined;
  readonly #children: RunChildren;
  #journal: Journal | undefined;
  #loop: Loop | undefined;
  #trace: DebugTrace | undefined;
  #lost: LogError | undefined;
  #ended = false;
  readonly #opened: Promise<void>;
  #markOpened!: () => void;

  constructor(options: ActiveRunOptions<Out>) {
    const { session } = options;
    const { services } = options.runner;
    this.#options = options;
    this.#interrupts = new RunInterrupts(services.clock, services.stopGraceMs);
    const { outputForm } = options.agent;
    this.#partials = outputForm && new PartialOutputs(outputForm);
    this.id = options.id;
    this.session = session;
    this.hub = new EventHub({
      runId: options.id,
      log: services.log,
      session,
      restore: (record) => restoreLargeRecord(record, services.blobs),
      ...(services.maxBufferBytes !== undefined && { maxBufferBytes: services.maxBufferBytes }),
    });
    this.#pendingApprovals = new PendingApprovals({
      isOpen: ({ token }) => isOpenQuestion(this.#state, token),
      decide: (request, decision) =>
        decideHere(this.#loop as Loop, this.#journal as Journal, { request, decision, newId: () => services.newId() }),
    });
    this.#opened = new Promise((resolve) => {
      this.#markOpened = resolve;
    });
    this.#children = new RunChildren({
      session,
      services,
      stateOf: () => this.#state,
      tell: (message) => this.#tell(message),
      opened: this.#opened,
    });
    this.outcome = this.#work();
  }

  [Symbol.asyncIterator](): AsyncIterator<AgentEvent> {
    return this.hub.subscribe();
  }

  events(options: { readonly after?: number } = {}): AsyncIterable<AgentEvent> {
    checkOptionNames("run.events", options, { after: true });
    return this.hub.subscribe(options);
  }

  get toolContext(): HeldContext | undefined {
    return this.#loop && inheritedContextOf(this.#loop);
  }

  async stop(reason?: string): Promise<void> {
    if (await this.#tell({ type: "stop", ...(reason !== undefined && { reason }) })) this.#interrupts.stop(reason);
  }

  async interrupt(reason?: string): Promise<void> {
    if (await this.#tell({ type: "stop", interrupt: true, ...(reason !== undefined && { reason }) })) this.#interrupts.interrupt(reason);
  }

  async abort(reason?: string): Promise<void> {
    if (!this.#ended) this.#interrupts.abort("aborted", reason);
    await this.#tell({ type: "abort", ...(reason !== undefined && { reason }) });
  }

  /** From the journal: what the log holds from now on. */
  committed(records: readonly LogRecord[]): void {
    this.hub.committed(records);
    const { runner, onLifecycleEvent } = this.#options;
    const { services } = runner;
    if (services.onLifecycleEvent === undefined && onLifecycleEvent === undefined) return;
    emitLifecycleEvents(records, {
      tell: (event) => {
        this.#options.onLifecycleEvent?.(event);
        services.onLifecycleEvent?.(event, this as Run<unknown>);
      },
      warn: (status) => this.hub.transient({ type: "status", status, level: "warn" }),
    });
  }

  /** From the journal: it may write no more. */
  lost(error: LogError): void {
    this.#lost ??= error;
    this.#interrupts.abort("detached");
  }

  /** From the journal: the next one to open the session reads more than it would have to. */
  snapshotFailed(error: unknown): void {
    this.hub.transient({ type: "status", status: `No snapshot of the session could be kept: ${describeThrown(error)}`, level: "warn" });
  }

  /** Leaves the run where it is and writes nothing more: for a child whose parent lost its log. */
  detach(error: LogError): void {
    if (this.#ended) return;
    this.#lost ??= error;
    this.#journal?.abandon(error);
    this.#interrupts.abort("detached");
  }

  async setModel(model: string): Promise<void> {
    if (typeof model !== "string" || model === "")
      throw invalidOption("model", `must be a model such as "anthropic/claude-haiku-4-5", not ${shown(model)}`);
    const { agent, runner } = this.#options;
    createModelSource([agent.options.model], runner.services.models).resolve(model);
    await this.#tell({ type: "set-model", model, agent: agent.name }, { afterEnd: true });
  }

  async setPermissionMode(mode: PermissionMode): Promise<void> {
    checkPermissionMode("mode", mode);
    await this.#tell({ type: "set-permission-mode", mode });
  }

  async setEffort(effort: EffortLevel | null): Promise<void> {
    if (effort !== null) {
      checkEffort(effort);
      await this.#opened;
      this.#checkEffortOfModel(effort);
    }
    await this.#tell({ type: "set-effort", effort });
  }

  async compact(options: { readonly keep?: string | undefined } = {}): Promise<void> {
    await this.#tell(compactMessage("run.compact", options), { afterEnd: true });
  }

  async steer(message: string | Message, options: { readonly interrupt?: boolean } = {}): Promise<void> {
    checkOptionNames("run.steer", options, { interrupt: FLAG_OPTION });
    const { interrupt = false } = options;
    const steering = steeringMessage(message);
    checkImages("message", steering.content, shownTo(this.#options.agent as Agent<unknown>, this.#options.runner.services));
    await this.#tell({ type: "steer", message: steering, interrupt });
  }

  async signal(signal: Signal): Promise<void> {
    await this.#tell({ type: "signal", signal: checkSignal(signal) });
  }

  partialOutput(): AsyncIterable<PartialValue<Out>> {
    if (this.#partials !== undefined) return this.#partials.subscribe() as AsyncIterable<PartialValue<Out>>;
    throw new AgentError({
      kind: "invalid-option",
      option: "output",
      message: `Agent "${this.#options.agent.name}" has no structured output to show parts of: give it \`output\`, a schema.`,
    });
  }

  approvals(): AsyncIterable<PendingApproval> {
    return this.#pendingApprovals.take();
  }

  get leavesWaiting(): boolean {
    return this.#options.leavesWaiting === true;
  }

  /** Shows the events and questions of a child to the watchers of this run, too. @returns what to call when it is over */
  adopt(given: LiveRun, name: string): () => void {
    // What works elsewhere is watched there.
    if (given instanceof ActiveRun) {
      given.hub.forwardTo(this.hub, name);
      given.#pendingApprovals.forwardTo(this.#pendingApprovals);
    }
    return this.#children.adopt(given);
  }

  children(): Promise<readonly ChildView[]> {
    return this.#children.list();
  }

  stopChild(id: string): Promise<boolean> {
    return this.#children.stop(id);
  }

  retryChild(id: string): Promise<boolean> {
    return this.#children.retry(id);
  }

  /** Of the session, while this run is its newest. */
  get #state(): SessionState | undefined {
    const state = this.#journal?.state;
    return state?.run?.id === this.id ? state : undefined;
  }

  /** @throws AgentError of kind `invalid-option` for an effort that the model of the run does not take */
  #checkEffortOfModel(effort: EffortLevel): void {
    const { agent, runner } = this.#options;
    const model = this.#state?.run?.model;
    if (model === undefined) return;
    const problem = effortProblem(effort, modelsOf(agent as Agent<unknown>, runner.services.models).resolve(model).facts);
    if (problem !== undefined) throw invalidOption("effort", `cannot be set: ${model} ${problem}`);
  }

  /** @returns whether the run could still read it */
  async #tell(message: InboxMessage, options?: { readonly afterEnd?: boolean }): Promise<boolean> {
    await this.#opened;
    return writeToOpenRun(this.#options.runner.services, this.#journal, this.id, message, options);
  }

  /** What the log says of the run's work so far. */
  get account(): RunAccount | undefined {
    return accountOf(this.#journal?.state);
  }

  async #work(): Promise<RunOutcome<Out>> {
    // Lets the caller subscribe first.
    await Promise.resolve();
    const unlink = this.#interrupts.linkSignal(this.#options.signal, (why) => this.abort(why));
    try {
      const loop = await this.#open();
      await this.#options.prepare?.(this.#journal as Journal);
      const begun = this.#options.begin(this.#journal as Journal, loop);
      // Only from here on there is a run that could read what it is told.
      this.#markOpened();
      const left = await begun;
      const journal = this.#journal as Journal;
      this.#interrupts.watchInbox(journal, loop);
      this.#interrupts.setDeadline(journal, this.#options.deadline, this.#options.limits.maxDurationMs);
      const over = journal.state.run?.status === "ended";
      this.next = over ? { type: "done" } : (left ?? (await runTurns(loop, this.#options.turns)));
      if (this.next.type === "now") {
        await settleBackground(loop);
        // Whoever is told to come again must find it: closing the journal is no place to fail.
        await journal.flush();
      }
      const meter = meterOf(loop);
      if (this.next.type === "done" && meter !== undefined) await retireRunBudget(loop, meter);
      const { wakes } = this.#options;
      if (this.next.type === "done" && wakes !== undefined) await wakeSession(this.#options.runner.services, wakes);
      this.#ended = true;
      return outcomeOf<Out>(
        (this.#journal as Journal).state,
        this.next,
        (outputOf(loop).output === undefined ? undefined : outputOf(loop).value) as Out | undefined,
      );
    } catch (error) {
      this.#ended = true;
      const failure = (this.failure = agentErrorOf(this.session, this.#lost ?? error));
      return outcomeOf<Out>(this.#journal?.state, { type: "done" }, undefined, failure, this.#journal?.committedSeq);
    } finally {
      unlink();
      this.#interrupts.end();
      this.#markOpened();
      if (this.#loop !== undefined) {
        // Whoever goes on with it elsewhere has none of the jobs of this process.
        const background = backgroundOf(this.#loop);
        if (this.failure !== undefined) background?.endJobs();
        else background?.leaveJobs();
        await background?.leave();
        await closeToolSources(this.#loop);
        await closeToolContext(this.#loop);
        await closeEnvironment(this.#loop);
        await notified(this.#loop);
      }
      await this.#close();
      await this.#trace?.close();
      // Not the run's terminal event: that one is the log's to hold. The stream of this handle ends here all the same.
      if (this.failure) this.hub.transient({ type: "detached" });
      this.hub.close();
      this.#partials?.end();
      this.#pendingApprovals.close();
      if (this.#loop !== undefined) await hooksOf(this.#loop)?.events?.end();
    }
  }

  async #open(): Promise<Loop> {
    const { id } = this;
    const journal = (this.#journal = await this.#options.open(this));
    const { state } = journal;
    this.hub.opened(state.run?.id === id ? state.run.startSeq - 1 : state.seq, state.seq);
    if (this.#lost) journal.abandon(this.#lost);
    const { loop, trace } = await openLoop({
      options: this.#options,
      journal,
      hub: this.hub,
      interrupts: this.#interrupts,
      approvals: this.#pendingApprovals,
      partials: this.#partials,
      parent: this,
    });
    this.#loop = loop;
    this.#trace = trace;
    return loop;
  }

  async #close(): Promise<void> {
    try {
      await this.#journal?.close();
    } catch (error) {
      // Everything that counts was flushed before; a lease that can't be given back expires.
      if (!LogError.is(error)) throw error;
    }
  }
}

guideToOutcome(ActiveRun.prototype as Run);

import {
  DirectiveError,
  EnvironmentError,
  type BackgroundJob,
  type CallId,
  type JsonObject,
  type JsonValue,
  type RunId,
  type Wait,
} from "@keelson/protocol";
import { shortHash } from "../../../json/digest.ts";
import type { ChildState } from "../../../session/child-state.ts";
import type { RunState } from "../../../session/session-state.ts";
import { createAlarm, type Alarm } from "../../../platform/alarm.ts";
import { bindBackgroundWork, type BackgroundWork } from "../effects/background-work.ts";
import type { Loop } from "../../turn/loop.ts";
import type { RunnerServices } from "../../turn/runner-services.ts";
import { workAgent } from "./background-agent.ts";
import { BackgroundEndings } from "./background-endings.ts";
import { endIfTakenUpElsewhere, keepJob, watchJob } from "./background-job.ts";
import type { BackgroundOptions } from "./background-options.ts";
import { hasEndedWell } from "./background-report.ts";
import { workTask } from "./background-task.ts";
import { childIds, findAgent, planChild } from "./child-plan.ts";
import { beforeChild } from "../hooks/subagent-hooks.ts";
import { endCalledChildren } from "./end-called-children.ts";
import { ProgressNotes } from "./progress-notes.ts";
import { restingWork } from "./resting-work.ts";
import { recordRetry, recordStart } from "./record-start.ts";
import { readSpawnConfig } from "./spawn-config.ts";
import { waitsBelow } from "./start-child.ts";
import { stopChildrenElsewhere } from "./stop-children-elsewhere.ts";
import type { Waiting, Work } from "./work.ts";
import { PartKey } from "../../turn/run-parts.ts";

/**
 * The agents, tasks and jobs that work beside the turns of one run. That they were started stands in the log before they begin; that
 * they ended is recorded by the loop, where a message to the model has its place, in one append with that message. So each result
 * reaches the model once, whatever crashes in between.
 */
export class Background implements BackgroundWork {
  readonly #options: BackgroundOptions;
  /** Rings when work ended, waits, or made progress. */
  readonly alarm: Alarm = createAlarm();
  readonly #works = new Map<string, Work>();
  #loop: Loop | undefined;
  #boundEndings: BackgroundEndings | undefined;
  #isClosed = false;
  readonly #progress = new ProgressNotes();

  constructor(options: BackgroundOptions) {
    this.#options = options;
  }

  /** The loop of the same run. */
  bind(loop: Loop): void {
    this.#loop = loop;
    this.#boundEndings = new BackgroundEndings(this.#options, this.#works, loop);
  }

  get services(): RunnerServices {
    return this.#options.runner.services;
  }

  /** Whether anything is not recorded as over. */
  get isOpen(): boolean {
    return (this.#run.children?.openBackground ?? 0) > 0;
  }

  /** Whether anything of it is to be waited for before the run ends. Jobs are not: they end with it. */
  get holdsRun(): boolean {
    return this.#held > 0;
  }

  /**
   * Nothing begins from here on: the run is ending. Tools and executors that an abort left behind may still ask, and nobody would end what
   * they start.
   */
  close(): void {
    this.#isClosed = true;
  }

  /**
   * What a tool started and leaves to the run. The log has it with the next append.
   * @throws EnvironmentError of kind `resource-exceeded`, or `cancelled` where the run is over
   */
  follow(job: BackgroundJob): void {
    const { execution, maxOpen } = this.#options;
    if (this.#isClosed)
      throw new EnvironmentError({
        kind: "cancelled",
        message: `The job "${job.name}" came too late: the run is over, and would not end it.`,
      });
    if (this.#busy >= maxOpen)
      throw new EnvironmentError({
        kind: "resource-exceeded",
        resource: "jobs",
        message: `${maxOpen} background agents, tasks and jobs are at work, which is the limit (limits.maxBackground). End one, or wait for one to end.`,
      });
    keepJob(execution.runId, job);
    execution.put(`background/${job.id}/start`, "task", { taskId: job.id, kind: "started", payload: { description: job.name, job: true } });
    this.takeUp();
  }

  /** For a run that waits, with jobs that go on here. */
  leaveJobs(): void {
    const { runner, execution } = this.#options;
    const { runId: run, session, journal } = execution;
    for (const { state, ending } of this.#works.values())
      if (state.kind === "job" && ending === undefined)
        endIfTakenUpElsewhere(runner.services.log, { session, run, id: state.id }, journal.committedSeq);
  }

  /** For a run that goes on elsewhere, where nobody has the jobs of this process. */
  endJobs(): void {
    for (const { state, stop } of this.#works.values()) if (state.kind === "job") stop();
  }

  async spawnAgent(key: string, name: string, config: JsonObject, callId?: CallId): Promise<RunId> {
    const { runner, execution } = this.#options;
    const { operator, input } = readSpawnConfig(name, config);
    const agent = findAgent(runner, operator);
    const { id, session } = childIds(execution, `background/${key}`, operator);
    if (this.#run.children?.all.has(id)) return id;
    this.#checkIsOpen("spawn-agent");
    this.#checkRoom("spawn-agent");
    await beforeChild(this.#boundLoop, {
      key: `background/${id}`,
      operator,
      input: { ...input, trigger: "task" },
      ...(callId && { call: callId }),
    });
    planChild(runner, { id, session, operator, input }, execution);
    // A hook may have taken its time.
    this.#checkIsOpen("spawn-agent");
    recordStart(execution, { child: id, session, agent: agent.name, ...(callId && { callId }), background: { name, config } });
    await this.#begin();
    return id;
  }

  async stopChild(key: string, name: string): Promise<number> {
    const found = this.#open((child) => child.kind === "agent" && (child.name === name || child.id === name));
    for (const child of found) this.#stop(child, key);
    await this.#options.execution.flush();
    return found.length;
  }

  async startTask(key: string, description: string, input: JsonValue): Promise<string> {
    const { runner, execution } = this.#options;
    const taskId = `task_${shortHash(`${execution.runId}/${key}`, 16)}`;
    if (this.#run.children?.all.has(taskId)) return taskId;
    if (runner.services.tasks === undefined) {
      const message = "Background tasks are not supported here: give createRunner `tasks`, whose `run` does them.";
      throw new DirectiveError({ kind: "unsupported", directive: "spawn-task", message });
    }
    this.#checkIsOpen("spawn-task");
    this.#checkRoom("spawn-task");
    execution.put(`background/${taskId}/start`, "task", { taskId, kind: "started", payload: { description, input } });
    await this.#begin();
    return taskId;
  }

  async stopTask(key: string, taskId: string): Promise<boolean> {
    const found = this.#open((child) => child.kind === "task" && child.id === taskId);
    for (const child of found) this.#stop(child, key);
    await this.#options.execution.flush();
    return found.length > 0;
  }

  /** What somebody outside asks about one piece of work. Puts its records, so that they stand with the reading of the inbox. */
  supervise(action: "stop" | "retry", id: string, key: string): void {
    const child = this.#run.children?.all.get(id);
    if (child?.background === undefined) return;
    if (action === "stop") {
      if (child.status === "working") this.#stop(child, key);
    } else if (this.#canRetry(child)) recordRetry(this.#options.execution, child, key);
  }

  /** Ends it at once, where it is at work; what is recorded of that follows. */
  interrupt(id: string): void {
    this.#works.get(id)?.stop();
  }

  /** Begins what the log says is open and nothing here works on: it is new, or an earlier process left it. */
  takeUp(): void {
    const { runner, parent, execution } = this.#options;
    const { ring } = this.alarm;
    for (const child of this.#open(({ id }) => !this.#works.has(id))) {
      const work =
        child.kind !== "agent" && execution.outside !== undefined
          ? restingWork(child, execution.outside, ring)
          : child.kind === "job"
            ? watchJob(execution.runId, child, ring)
            : child.kind === "agent"
              ? workAgent({ runner, parent, execution, ring }, child)
              : workTask(
                  { tasks: runner.services.tasks, execution, ring, progress: (id, payload) => this.#noteProgress(id, payload) },
                  child,
                );
      this.#works.set(child.id, work);
    }
  }

  /** Records what ended since, and puts it before the model. Only where a message of a user may stand. */
  async collect(): Promise<void> {
    this.#progress.tell(this.#options.execution, this.#run.resumes);
    for (const work of [...this.#works.values()])
      if (work.ending !== undefined && (await this.#endings.settle(work, work.ending))) this.takeUp();
  }

  /** Records what ended since, for a run that is over itself: the model is not told. */
  async collectSilently(): Promise<void> {
    this.#progress.tell(this.#options.execution, this.#run.resumes);
    for (const work of [...this.#works.values()]) if (work.ending !== undefined) await this.#endings.settleSilently(work, work.ending);
  }

  /** Keeps what would be lost with this process, where nobody can be told of it yet. An agent's log keeps its own. */
  keepSettled(): void {
    const { execution } = this.#options;
    this.#progress.tell(this.#options.execution, this.#run.resumes);
    for (const { state, ending } of this.#works.values())
      if (ending && state.kind !== "agent" && !state.settled)
        execution.put(`background/${state.id}/settled`, "child-settled", { child: state.id, ending: ending });
  }

  /** What it waits for, where some of it can't go on for now. */
  get waiting(): Waiting | undefined {
    const found: Waiting[] = [];
    for (const { state, waiting } of this.#works.values())
      if (waiting) found.push({ reason: waiting.reason, waits: waitsBelow(state.name, waiting.waits) });
    const [first] = found;
    return first && { reason: first.reason, waits: found.flatMap(({ waits }) => waits) };
  }

  /** Whether any of it that holds the run is at work now. */
  get isWorking(): boolean {
    for (const { state, ending, waiting } of this.#works.values())
      if (state.kind !== "job" && ending === undefined && waiting === undefined) return true;
    return false;
  }

  /** Tells the agents that work elsewhere to end, those that calls wait for too. @returns what the run has to wait for first */
  stopElsewhere(how: "stop" | "abort"): Promise<readonly Wait[]> {
    return stopChildrenElsewhere(this.#boundLoop, this.services, how);
  }

  /** Ends the children that calls still wait for, for a run that is over. */
  endCalled(): Promise<void> {
    return endCalledChildren(this.#boundLoop, this.#options);
  }

  /** Tells all of it to end. */
  stopAll(): void {
    for (const work of this.#works.values()) work.stop();
  }

  /** Lets go of what waits, and resolves when nothing is at work here any more. */
  async leave(): Promise<void> {
    const works = [...this.#works.values()];
    for (const work of works) work.leave();
    await Promise.all(works.map(({ done }) => done));
  }

  get #boundLoop(): Loop {
    return this.#loop as Loop;
  }

  get #endings(): BackgroundEndings {
    return this.#boundEndings as BackgroundEndings;
  }

  get #run(): RunState {
    return this.#options.execution.journal.state.run as RunState;
  }

  /** Agents and tasks that are not recorded as over. */
  get #held(): number {
    return this.isOpen ? this.#open(({ kind }) => kind !== "job").length : 0;
  }

  /** What is at work: jobs count until they end, all else until that is recorded. */
  get #busy(): number {
    return this.isOpen ? this.#open(({ kind, id }) => kind !== "job" || this.#works.get(id)?.ending === undefined).length : 0;
  }

  async #begin(): Promise<void> {
    await this.#options.execution.flush();
    this.takeUp();
  }

  #open(is: (child: ChildState) => boolean): readonly ChildState[] {
    const children = this.#run.children?.all.values() ?? [];
    return [...children].filter((child) => child.background !== undefined && child.status === "working" && is(child));
  }

  #checkIsOpen(directive: string): void {
    if (!this.#isClosed) return;
    const message = `"${directive}" came too late: the run is over, and no turn could take its result.`;
    throw new DirectiveError({ kind: "execution-failed", directive, message });
  }

  #checkRoom(directive: string): void {
    const { maxOpen } = this.#options;
    if (this.#busy < maxOpen) return;
    const message = `"${directive}" was refused: ${maxOpen} background agents, tasks and jobs are at work, which is the limit (limits.maxBackground). Stop one, or wait for one to end.`;
    throw new DirectiveError({ kind: "execution-failed", directive, message });
  }

  #stop({ id }: ChildState, key: string): void {
    this.#options.execution.put(`${key}/stop/${id}`, "child-stop", { child: id });
    this.interrupt(id);
  }

  #noteProgress(id: string, payload: JsonValue): void {
    if (!this.#works.has(id)) return;
    this.#progress.note(id, payload);
    this.alarm.ring();
  }

  /** A failed agent is tried again by one successor at a time. */
  #canRetry({ kind, status, id }: ChildState): boolean {
    if (kind !== "agent" || status === "working" || hasEndedWell({ reason: status })) return false;
    return this.#open(({ background }) => (background as JsonObject)["retryOf"] === id).length === 0;
  }
}

const BACKGROUND = new PartKey<Background>("background");

/** Children and tasks beside the turns. Without it, directives about them are unsupported. */
export function backgroundOf({ parts }: Loop): Background | undefined {
  return parts.get(BACKGROUND);
}

export function bindBackground(loop: Loop, background: Background): void {
  loop.parts.set(BACKGROUND, background);
  bindBackgroundWork(loop, background);
  background.bind(loop);
}

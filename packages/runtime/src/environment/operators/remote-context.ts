import type {
  ChildSpec,
  DurableEvent,
  ExecutionContext,
  InboxEntry,
  Json,
  JsonValue,
  OperatorOutput,
  RunId,
  SelectBranch,
  SessionId,
  StepAttempt,
  StepResult,
  StepSpec,
  SuspendReason,
  TransientEvent,
  Wait,
} from "@keelson/protocol";
import type { BranchData, ContextData, ContextRequest, FromOperator, Settled, StepData, ToOperator } from "./operator-messages.ts";
import { settle, valueOf } from "./settled.ts";

type Task = (attempt: StepAttempt) => unknown;

/** Unwinds the operator: the process that started it suspends the run. */
export class RemoteSuspension extends Error {
  override readonly name = "RemoteSuspension";
}

/**
 * The execution context of an operator in a process of its own. What it asks is asked of the one that started it, whose log records it;
 * the functions of its steps run here.
 */
export class RemoteContext implements ExecutionContext {
  readonly runId: RunId;
  readonly session: SessionId;
  readonly parent?: { readonly run: RunId };
  readonly signal: AbortSignal;
  readonly deadline?: number;
  readonly authority: ContextData["authority"];
  readonly #send: (message: FromOperator) => void;
  readonly #aborting = new AbortController();
  readonly #tasks = new Map<number, { readonly run: Task; attempt: AbortController }>();
  readonly #waiting = new Map<number, (result: Settled) => void>();
  #numbers = 0;
  #isOver = false;

  constructor({ runId, session, parent, deadline, authority }: ContextData, send: (message: FromOperator) => void) {
    this.runId = runId;
    this.session = session;
    if (parent) this.parent = parent;
    if (deadline !== undefined) this.deadline = deadline;
    this.authority = authority;
    this.signal = this.#aborting.signal;
    this.#send = send;
  }

  /** After this the operator has been heard: what it still does counts for nothing. */
  end(): void {
    this.#isOver = true;
  }

  hear(message: Exclude<ToOperator, { readonly type: "execute" }>): void {
    switch (message.type) {
      case "abort":
        this.#aborting.abort(new Error(message.reason));
        return;
      case "settled":
        this.#waiting.get(message.request)?.(message.result);
        this.#waiting.delete(message.request);
        return;
      case "run-task":
        void this.#runTask(message.task, message.attempt);
        return;
      case "abort-task":
        this.#tasks.get(message.task)?.attempt.abort(new Error(message.reason));
    }
  }

  async step<T>(key: string, run: (attempt: StepAttempt) => Promise<T & Json<T>>): Promise<StepResult<T>> {
    return this.#ask<StepResult<T>>({ method: "step", spec: this.#stepData({ key, run }) });
  }

  async steps<const S extends readonly StepSpec<unknown>[]>(
    specs: S,
  ): Promise<{ readonly [I in keyof S]: S[I] extends StepSpec<infer T> ? StepResult<T> : never }> {
    return this.#ask({ method: "steps", specs: specs.map((spec) => this.#stepData(spec)) });
  }

  async select(key: string, branches: readonly SelectBranch[]): Promise<number> {
    const data = branches.map((branch): BranchData =>
      branch.type === "step" ? { type: "step", spec: this.#stepData(branch.spec) } : branch,
    );
    return this.#ask({ method: "select", key, branches: data });
  }

  async decide<T>(point: string, run: () => T | Promise<T>): Promise<T> {
    return this.#ask({ method: "decide", point, task: this.#keep(run) });
  }

  async sleepUntil(key: string, at: number): Promise<void> {
    return this.#ask({ method: "sleepUntil", key, at });
  }

  async commit(key: string, event: DurableEvent): Promise<number> {
    return this.#ask({ method: "commit", key, event });
  }

  emit(event: TransientEvent): void {
    if (!this.#isOver) this.#send({ type: "emit", event });
  }

  async inbox(point: string): Promise<readonly InboxEntry[]> {
    return this.#ask({ method: "inbox", point });
  }

  suspend(reason: SuspendReason, waits: readonly Wait[]): never {
    if (!this.#isOver) this.#send({ type: "suspend", reason, waits });
    this.end();
    throw new RemoteSuspension(`The run waits (${reason}).`);
  }

  async startChild(spec: ChildSpec): Promise<OperatorOutput> {
    return this.#ask({ method: "startChild", spec });
  }

  async #ask<T>(ask: ContextRequest): Promise<T> {
    if (this.#isOver)
      throw new Error(`An operator that is over asked its execution context for \`${ask.method}\`. Await all that it does.`);
    const request = ++this.#numbers;
    const result = new Promise<Settled>((resolve) => this.#waiting.set(request, resolve));
    this.#send({ type: "request", request, ask });
    return valueOf(await result) as T;
  }

  #stepData({ key, run }: StepSpec<unknown>): StepData {
    return { key, task: this.#keep(run) };
  }

  #keep(run: Task): number {
    const task = ++this.#numbers;
    this.#tasks.set(task, { run, attempt: new AbortController() });
    return task;
  }

  async #runTask(number: number, attempt: { readonly number: number; readonly idempotencyKey: string } | undefined): Promise<void> {
    const task = this.#tasks.get(number);
    const result = await settle(async () => {
      if (task === undefined) throw new Error(`There is no step ${number} in this process.`);
      task.attempt = new AbortController();
      const emit = (event: TransientEvent): void => this.#send({ type: "emit", event, task: number });
      return (await task.run({ number: 1, idempotencyKey: "", ...attempt, signal: task.attempt.signal, emit })) as JsonValue | undefined;
    });
    this.#send({ type: "task-settled", task: number, result });
  }
}

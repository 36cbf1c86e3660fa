import {
  AgentError,
  type Authority,
  type CallId,
  type ChildSpec,
  type DurableEvent,
  type Durability,
  type ExecutionContext,
  type InboxEntry,
  type Json,
  type JsonObject,
  type JsonValue,
  type LogRecord,
  type OperatorOutput,
  type RunId,
  type SelectBranch,
  type SessionId,
  type StepAttempt,
  type StepResult,
  type StepSpec,
  type SuspendReason,
  type TransientEvent,
  type Wait,
} from "@keelson/protocol";
import { digestOf } from "../json/digest.ts";
import { asRecorded } from "./as-recorded.ts";
import type { Clock } from "../platform/clock.ts";
import type { Journal } from "./journal.ts";
import { stepFailureOf } from "./step-failure.ts";
import { Suspension } from "./suspension.ts";

export interface ExecutionOptions {
  readonly journal: Journal;
  readonly clock: Clock;
  readonly runId: RunId;
  readonly session: SessionId;
  readonly parent?: { readonly run: RunId; readonly call?: CallId | undefined } | undefined;
  readonly signal: AbortSignal;
  /** Fires when a graceful stop was asked for. */
  readonly stopping: AbortSignal;
  readonly deadline?: number | undefined;
  readonly authority: Authority;
  emit(event: TransientEvent): void;
  startChild(spec: ChildSpec): Promise<OperatorOutput>;
}

/** What the events of a type say beside it. */
type DurableEventData<T extends DurableEvent["type"]> = Omit<Extract<DurableEvent, { readonly type: T }>, "type">;

/** What a decision says: a value where there is one, or that it could not be taken. */
export type VerdictData = {
  readonly value?: JsonValue;
  readonly panic?: { readonly callback: string; readonly message: string };
};

/** What is to be attempted. */
interface Act {
  readonly key: string;
  readonly number: number;
}

/** {@link ExecutionContext} over a journal: what is in the log is read, what is not is done and recorded. */
export class Execution implements ExecutionContext {
  readonly journal: Journal;
  readonly clock: Clock;
  readonly runId: RunId;
  readonly session: SessionId;
  readonly parent?: { readonly run: RunId; readonly call?: CallId };
  readonly signal: AbortSignal;
  /** Fires when a graceful stop was asked for. */
  readonly stopping: AbortSignal;
  readonly deadline?: number;
  readonly authority: Authority;
  readonly emit: (event: TransientEvent) => void;
  readonly #startChild: (spec: ChildSpec) => Promise<OperatorOutput>;
  /** Of the run's keys: one string for all of them, which the log holds as long as itself. */
  readonly #prefix: string;

  constructor(options: ExecutionOptions) {
    this.journal = options.journal;
    this.clock = options.clock;
    this.runId = options.runId;
    this.session = options.session;
    if (options.parent) {
      const { run, call } = options.parent;
      this.parent = call === undefined ? { run } : { run, call };
    }
    this.signal = options.signal;
    this.stopping = options.stopping;
    if (options.deadline !== undefined) this.deadline = options.deadline;
    this.authority = options.authority;
    this.emit = options.emit;
    this.#startChild = options.startChild;
    this.#prefix = `${options.runId}/`;
  }

  /** Adds an event to the next append. */
  put<T extends DurableEvent["type"]>(key: string, type: T, data: DurableEventData<T>, durability?: Durability): void {
    this.journal.put(this.#prefix + key, type, data as JsonObject, durability);
  }

  /** Adds a record that watchers do not see. */
  note(key: string, type: string, data: JsonObject, durability?: Durability): void {
    this.journal.put(this.#prefix + key, type, data, durability);
  }

  flush(): Promise<void> {
    return this.journal.flush();
  }

  lookup(key: string): LogRecord | undefined {
    return this.journal.state.run?.open.get(this.#prefix + key);
  }

  async commit(key: string, event: DurableEvent): Promise<number> {
    const { type, ...data } = event;
    this.note(key, type, data);
    await this.flush();
    return this.lookup(key)?.seq ?? this.journal.state.seq;
  }

  async step<T>(key: string, run: (attempt: StepAttempt) => Promise<T & Json<T>>): Promise<StepResult<T>> {
    const done = this.lookup(key);
    if (done) return done.data as StepResult<T>;
    const number = this.#countAttempt(key);
    await this.flush();
    const result = await this.#attempt({ key, number }, (_act, attempt) => run(attempt));
    this.note(key, "step", result as JsonObject);
    await this.flush();
    return result;
  }

  async steps<const S extends readonly StepSpec<unknown>[]>(
    specs: S,
  ): Promise<{ readonly [I in keyof S]: S[I] extends StepSpec<infer T> ? StepResult<T> : never }> {
    const results = await Promise.all(specs.map((spec) => this.step(spec.key, (attempt) => spec.run(attempt) as Promise<never>)));
    return results as never;
  }

  /**
   * Runs one attempt of each act and says when it began and ended: started in this order, awaited together. Records nothing, for
   * acts whose outcome stands in the log as events of their own. One that suspends the run keeps none of the others from being started.
   */
  attempts<A extends Act, T>(acts: readonly A[], run: (act: A, attempt: StepAttempt) => T | Promise<T>): Promise<readonly StepResult<T>[]> {
    return Promise.all(acts.map((act) => this.#attempt(act, run)));
  }

  async #attempt<A extends Act, T>(act: A, run: (act: A, attempt: StepAttempt) => T | Promise<T>): Promise<StepResult<T>> {
    const { key, number } = act;
    const startedAt = this.clock.now();
    const endedAt = (): number => Math.max(startedAt, this.clock.now());
    try {
      const value = await run(act, { number, idempotencyKey: this.#prefix + key, signal: this.signal, emit: this.emit });
      return { ok: true, value, startedAt, endedAt: endedAt() };
    } catch (error) {
      if (error instanceof Suspension) throw error;
      return { ok: false, failure: stepFailureOf(error), startedAt, endedAt: endedAt() };
    }
  }

  /**
   * @param record puts the verdict into the log under its point, where that takes more than a decision; `run` then gives what
   * comes back from there as it is
   */
  async decide<T>(point: string, run: () => T | Promise<T>, record?: (data: VerdictData) => void): Promise<T> {
    const done = this.lookup(point);
    if (done) {
      const panic = done.data["panic"] as { readonly callback: string; readonly message: string } | undefined;
      if (panic) throw new AgentError({ kind: "panic", ...panic });
      return done.data["value"] as T;
    }
    const put = record ?? ((data: VerdictData): void => this.note(point, "decision", data));
    let value: T;
    try {
      const given = await run();
      value = record === undefined ? asRecorded(given) : given;
    } catch (error) {
      const panic = AgentError.is(error, "panic")
        ? { callback: error.failure.callback, message: error.message }
        : { callback: point, message: `"${point}" threw: ${error instanceof Error ? error.message : String(error)}` };
      put({ panic });
      throw new AgentError({ kind: "panic", ...panic }, { cause: error });
    }
    put(value === undefined ? {} : { value: value as JsonValue });
    return value;
  }

  /** @param atMostMs bounds the wait where the clock was set back since `at` was recorded */
  async sleepUntil(key: string, at: number, atMostMs: number = Number.POSITIVE_INFINITY): Promise<void> {
    if (this.lookup(key)) return;
    await this.flush();
    await this.wait(Math.min(atMostMs, Math.max(0, at - this.clock.now())));
    if (!this.signal.aborted) this.note(key, "slept", { until: at });
  }

  /** Waits so long, or until the run is aborted or asked to stop. Records nothing. */
  async wait(ms: number): Promise<void> {
    if (ms <= 0 || this.signal.aborted || this.stopping.aborted) return;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        cancel();
        this.signal.removeEventListener("abort", done);
        this.stopping.removeEventListener("abort", done);
        resolve();
      };
      const cancel = this.clock.after(ms, done);
      this.signal.addEventListener("abort", done, { once: true });
      this.stopping.addEventListener("abort", done, { once: true });
    });
  }

  async select(key: string, branches: readonly SelectBranch[]): Promise<number> {
    const done = this.lookup(key);
    if (done) return done.data["winner"] as number;
    await this.flush();
    const cleanups: (() => void)[] = [];
    const winner = await new Promise<number>((resolve, reject) => {
      branches.forEach((branch, index) => {
        if (branch.type === "timer") cleanups.push(this.clock.after(Math.max(0, branch.at - this.clock.now()), () => resolve(index)));
        else if (branch.type === "inbox") void this.#inboxArrives(cleanups).then(() => resolve(index), reject);
        else void this.step(branch.spec.key, (attempt) => branch.spec.run(attempt) as Promise<never>).then(() => resolve(index), reject);
      });
      const abort = (): void => reject(this.signal.reason);
      this.signal.addEventListener("abort", abort, { once: true });
      cleanups.push(() => this.signal.removeEventListener("abort", abort));
    }).finally(() => cleanups.forEach((cleanup) => cleanup()));
    this.note(key, "selected", { winner });
    await this.flush();
    return winner;
  }

  /** Whether `inbox` has anything to give. */
  get hasUnread(): boolean {
    return this.journal.hasUnread;
  }

  inbox(_point: string): Promise<readonly InboxEntry[]> {
    return this.journal.readInbox();
  }

  suspend(reason: SuspendReason, waits: readonly Wait[]): never {
    throw new Suspension(reason, waits);
  }

  startChild(spec: ChildSpec): Promise<OperatorOutput> {
    return this.#startChild(spec);
  }

  /** A derived id or key: the same parts give the same digest. */
  derive(...parts: readonly JsonValue[]): string {
    return digestOf(parts);
  }

  async #inboxArrives(cleanups: (() => void)[]): Promise<void> {
    if ((await this.journal.readInbox()).length > 0) return;
    await new Promise<void>((resolve) => {
      const stop = this.journal.onInbox(() => resolve());
      cleanups.push(stop);
    });
  }

  #countAttempt(key: string): number {
    for (let number = 1; ; number++) {
      if (this.lookup(`${key}/attempt/${number}`)) continue;
      this.note(`${key}/attempt/${number}`, "step-attempt", {});
      return number;
    }
  }
}

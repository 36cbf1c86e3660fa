import {
  AgentError,
  LogError,
  type Authority,
  type CallId,
  type ChildSpec,
  type DurableEvent,
  type Durability,
  type ExecutionContext,
  type InboxEntry,
  type Json,
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
import { firstBranch } from "./first-branch.ts";
import type { Journal } from "./journal.ts";
import type { Outside } from "./outside-reached.ts";
import { isRecordOf, type RecordData, type RecordOf, type RecordType, type VerdictData } from "./record-data.ts";
import { createRunAuthority, type RunAuthority } from "./run-authority.ts";
import { stepFailureOf } from "./step-failure.ts";
import { Suspension } from "./suspension.ts";
import { checkOptionNames, type OptionNames } from "../json/option-names.ts";

export const CHILD_SPEC: OptionNames<ChildSpec> = { key: true, operator: true, input: true, call: true, authority: true };

export interface ExecutionOptions {
  readonly journal: Journal;
  readonly clock: Clock;
  readonly runId: RunId;
  readonly session: SessionId;
  readonly parent?: { readonly run: RunId; readonly call?: CallId | undefined } | undefined;
  readonly signal: AbortSignal;
  /** Fires when a graceful stop was asked for. */
  readonly stopping: AbortSignal;
  /** Fires when calls that run are to end with what they have so far. Default: never. */
  readonly interrupting?: AbortSignal | undefined;
  readonly deadline?: number | undefined;
  readonly authority: Authority;
  /** Told what `commit` added, once it is in the log. */
  readonly committed?: ((event: DurableEvent) => void) | undefined;
  /** Of a rehearsal: what unwinds in place of an act that is not of the log. */
  readonly outside?: Outside | undefined;
  emit(event: TransientEvent): void;
  startChild(spec: ChildSpec): Promise<OperatorOutput>;
}

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
  /** Fires when calls that run are to end with what they have so far. */
  readonly interrupting: AbortSignal;
  readonly deadline?: number;
  readonly emit: (event: TransientEvent) => void;
  /** Only of a rehearsal. Told what would be reached, it gives what to unwind with, or return, in its place. */
  readonly outside: Outside | undefined;
  readonly #authorityOf: RunAuthority;
  readonly #committed: ((event: DurableEvent) => void) | undefined;
  readonly #startChild: (spec: ChildSpec) => Promise<OperatorOutput>;
  /** What the keys of the run begin with. */
  readonly #prefix: string;
  /** Steps and decisions that are not over yet, by key: who asks for one again waits for the same. */
  readonly #underway = new Map<string, Promise<unknown>>();

  constructor(options: ExecutionOptions) {
    checkOptionNames("Execution", options, {
      journal: true,
      clock: true,
      runId: true,
      session: true,
      parent: true,
      signal: true,
      stopping: true,
      interrupting: true,
      deadline: true,
      authority: true,
      committed: true,
      outside: true,
      emit: true,
      startChild: true,
    });
    this.journal = options.journal;
    this.clock = options.clock;
    this.runId = options.runId;
    this.session = options.session;
    const { run, call } = options.parent ?? {};
    if (run !== undefined) this.parent = call === undefined ? { run } : { run, call };
    this.signal = options.signal;
    this.stopping = options.stopping;
    this.interrupting = options.interrupting ?? new AbortController().signal;
    if (options.deadline !== undefined) this.deadline = options.deadline;
    this.#authorityOf = createRunAuthority(options.authority);
    this.emit = options.emit;
    this.outside = options.outside;
    this.#committed = options.committed;
    this.#startChild = options.startChild;
    this.#prefix = `${options.runId}/`;
  }

  /** The authority of the run, with its own limits as they were raised since it began, and the permission mode that holds for its open calls. */
  get authority(): Authority {
    const { run } = this.journal.state;
    return this.#authorityOf(run?.id === this.runId ? run : undefined);
  }

  /** Adds a record to the next append. Watchers see those that are events of the protocol. */
  put<T extends RecordType>(key: string, type: T, data: RecordData[T], durability?: Durability): void {
    this.journal.put(this.#prefix + key, type, data, durability);
  }

  flush(): Promise<void> {
    return this.journal.flush();
  }

  /**
   * Before anything is done that is not of the log: code of the user, models, tools, waiting.
   * @throws OutsideReached in a rehearsal
   */
  goOutside(what: string): void {
    if (this.outside !== undefined) throw this.outside(what);
  }

  /** Whether anything stands under a key of this run, in its open turn or between turns. */
  has(key: string): boolean {
    return this.#find(key) !== undefined;
  }

  /**
   * What stands under a key of this run, in its open turn or between turns.
   * @param types which it can be
   * @throws LogError of kind `corrupt` where it is of another type
   */
  lookup<T extends RecordType>(key: string, ...types: readonly [T, ...T[]]): RecordOf<T> | undefined {
    const record = this.#find(key);
    if (record === undefined || isRecordOf(record, ...types)) return record;
    throw new LogError({
      kind: "corrupt",
      log: this.journal.log,
      seq: record.seq,
      message: `Record ${record.seq} of session "${this.session}" stands under "${record.key}" and is of type "${record.type}", not ${types.join(" or ")}: restore the log from a backup, or start another session.`,
    });
  }

  #find(key: string): LogRecord | undefined {
    return this.journal.state.run?.open.get(this.#prefix + key);
  }

  async commit(key: string, event: DurableEvent): Promise<number> {
    const place = `commit/${key}`;
    const isNew = !this.has(place);
    this.put(place, "committed", { event });
    await this.flush();
    if (isNew) this.#committed?.(event);
    return this.#find(place)?.seq ?? this.journal.state.seq;
  }

  async step<T>(key: string, run: (attempt: StepAttempt) => Promise<T & Json<T>>): Promise<StepResult<T>> {
    const done = this.lookup(key, "step");
    // It holds what the same step gave, as JSON: of the type that it gives now.
    if (done) return done.data as StepResult<T>;
    this.goOutside(`the step "${key}"`);
    return this.#once(key, async () => {
      const number = this.#countAttempt(key);
      await this.flush();
      // A step must not run again because the log can't hold its value.
      const result = await this.#attempt({ key, number }, async (_act, attempt) => asRecorded<T>(await run(attempt)));
      this.put(key, "step", result as StepResult<JsonValue>);
      await this.flush();
      return result;
    });
  }

  async steps<const S extends readonly StepSpec<unknown>[]>(
    specs: S,
  ): Promise<{ readonly [I in keyof S]: S[I] extends StepSpec<infer T> ? StepResult<T> : never }> {
    const results = await Promise.all(specs.map((spec) => this.step(spec.key, (attempt) => spec.run(attempt) as Promise<never>)));
    // A `map` over a tuple is a list to the compiler.
    return results as never;
  }

  /**
   * Runs one attempt of each act and says when it began and ended: started in this order, awaited together. Records nothing, for
   * acts whose outcome stands in the log as events of their own. One that suspends the run keeps none of the others from being started.
   */
  attempts<A extends Act, T>(acts: readonly A[], run: (act: A, attempt: StepAttempt) => Promise<T>): Promise<readonly StepResult<T>[]> {
    return Promise.all(acts.map((act) => this.#attempt(act, run)));
  }

  async #attempt<A extends Act, T>(act: A, run: (act: A, attempt: StepAttempt) => Promise<T>): Promise<StepResult<T>> {
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
    const done = this.#find(point);
    if (done) {
      // One that was recorded as something else, such as a change of state, has no value of its own.
      const { panic, value }: VerdictData = isRecordOf(done, "decision") ? done.data : {};
      if (panic) throw new AgentError({ kind: "panic", ...panic });
      return value as T;
    }
    this.goOutside(`the code that decides "${point}"`);
    return this.#once(point, () => this.#decide(point, run, record));
  }

  async #decide<T>(point: string, run: () => T | Promise<T>, record?: (data: VerdictData) => void): Promise<T> {
    const put = record ?? ((data: VerdictData): void => this.put(point, "decision", data));
    let value: T;
    try {
      const given = await run();
      value = record === undefined ? asRecorded(given) : given;
    } catch (error) {
      if (error instanceof Suspension) throw error;
      const panic = AgentError.is(error, "panic")
        ? { callback: error.failure.callback, message: error.message }
        : { callback: point, message: `"${point}" threw: ${error instanceof Error ? error.message : String(error)}` };
      put({ panic });
      throw new AgentError({ kind: "panic", ...panic }, { cause: error });
    }
    put(value === undefined ? {} : { value: value as JsonValue });
    return value;
  }

  #once<T>(key: string, act: () => Promise<T>): Promise<T> {
    const underway = this.#underway.get(key);
    // Under one key is one act, and what it gives is of one type.
    if (underway !== undefined) return underway as Promise<T>;
    const begun = act().finally(() => this.#underway.delete(key));
    this.#underway.set(key, begun);
    return begun;
  }

  async sleepUntil(key: string, at: number): Promise<void> {
    const place = `sleep/${key}`;
    if (this.has(place)) return;
    this.goOutside("the clock");
    await this.flush();
    await firstBranch(this, key, [{ type: "timer", at }]);
    this.put(place, "slept", { until: at });
  }

  /** Waits so long, or until the run is aborted or asked to stop. Records nothing. */
  async wait(ms: number): Promise<void> {
    if (ms <= 0 || this.signal.aborted || this.stopping.aborted) return;
    this.goOutside("the clock");
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
    const place = `select/${key}`;
    const done = this.lookup(place, "selected");
    if (done) return done.data.winner;
    this.goOutside("the clock");
    await this.flush();
    const winner = await firstBranch(this, key, branches);
    this.put(place, "selected", { winner });
    return winner;
  }

  /** Whether `inbox` has anything to give. */
  get hasUnread(): boolean {
    return this.journal.hasUnread;
  }

  /** What `inbox` would give. It stays unread. */
  unread(): Promise<readonly InboxEntry[]> {
    return this.journal.readInbox();
  }

  async inbox(point: string): Promise<readonly InboxEntry[]> {
    const place = `inbox/${point}`;
    const done = this.lookup(place, "inbox-read")?.data;
    if (done) return this.journal.readInboxAfter(done.from ?? done.upTo, done.upTo);
    return this.#once(place, async () => {
      const unread = await this.unread();
      const from = this.journal.state.inboxRead;
      const entries = unread.filter(({ seq }) => seq > from);
      this.put(place, "inbox-read", { from, upTo: entries.at(-1)?.seq ?? from });
      return entries;
    });
  }

  suspend(reason: SuspendReason, waits: readonly Wait[]): never {
    throw new Suspension(reason, waits);
  }

  async startChild(spec: ChildSpec): Promise<OperatorOutput> {
    checkOptionNames("startChild", spec, CHILD_SPEC);
    return this.#startChild(spec);
  }

  /** A derived id or key: the same parts give the same digest. */
  derive(...parts: readonly JsonValue[]): string {
    return digestOf(parts);
  }

  #countAttempt(key: string): number {
    for (let number = 1; ; number++) {
      if (this.has(`${key}/attempt/${number}`)) continue;
      this.put(`${key}/attempt/${number}`, "step-attempt", {});
      return number;
    }
  }
}

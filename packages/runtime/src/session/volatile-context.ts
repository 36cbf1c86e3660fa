import {
  AgentError,
  OperatorError,
  type Authority,
  type ChildSpec,
  type DurableEvent,
  type ExecutionContext,
  type InboxEntry,
  type InboxMessage,
  type Json,
  type OperatorOutput,
  type RunId,
  type SelectBranch,
  type SessionId,
  type StepAttempt,
  type StepResult,
  type StepSpec,
  type TransientEvent,
} from "@keelson/protocol";
import type { Clock } from "../platform/clock.ts";
import { stepFailureOf } from "./step-failure.ts";
import { Suspension } from "./suspension.ts";

export interface VolatileContextOptions {
  readonly clock: Clock;
  readonly runId: RunId;
  readonly session: SessionId;
  readonly parent?: { readonly run: RunId } | undefined;
  readonly signal: AbortSignal;
  readonly deadline?: number | undefined;
  readonly authority: Authority;
  onEvent?(event: DurableEvent | TransientEvent): void;
  startChild?(spec: ChildSpec): Promise<OperatorOutput>;
}

/** An execution context that forgets everything at its end, for operators that need no log. Steps still happen once per key. */
export class VolatileContext implements ExecutionContext {
  readonly runId: RunId;
  readonly session: SessionId;
  readonly parent?: { readonly run: RunId };
  readonly signal: AbortSignal;
  readonly deadline?: number;
  readonly authority: Authority;
  readonly #options: VolatileContextOptions;
  readonly #steps = new Map<string, Promise<StepResult<unknown>>>();
  readonly #decisions = new Map<string, Promise<unknown>>();
  readonly #committed = new Map<string, number>();
  readonly #inbox: InboxEntry[] = [];
  readonly #listeners = new Set<() => void>();
  #read = 0;

  constructor(options: VolatileContextOptions) {
    this.#options = options;
    this.runId = options.runId;
    this.session = options.session;
    if (options.parent) this.parent = options.parent;
    this.signal = options.signal;
    if (options.deadline !== undefined) this.deadline = options.deadline;
    this.authority = options.authority;
  }

  /** What `inbox` will hand out. A key that was written before is not written again. */
  write(key: string, message: InboxMessage): void {
    if (this.#inbox.some((entry) => entry.key === key)) return;
    this.#inbox.push({ ...message, key, seq: this.#inbox.length + 1, at: this.#options.clock.now() } as InboxEntry);
    for (const wake of this.#listeners) wake();
  }

  async step<T>(key: string, run: (attempt: StepAttempt) => Promise<T & Json<T>>): Promise<StepResult<T>> {
    return (await this.#step(key, run)) as StepResult<T>;
  }

  async steps<const S extends readonly StepSpec<unknown>[]>(
    specs: S,
  ): Promise<{ readonly [I in keyof S]: S[I] extends StepSpec<infer T> ? StepResult<T> : never }> {
    const results = await Promise.all(specs.map((spec) => this.#step(spec.key, spec.run)));
    // A `map` over a tuple is a list to the compiler.
    return results as never;
  }

  async select(key: string, branches: readonly SelectBranch[]): Promise<number> {
    return this.decide(`select/${key}`, async () => {
      const cleanups: (() => void)[] = [];
      try {
        return await new Promise<number>((resolve, reject) => {
          branches.forEach((branch, index) => {
            if (branch.type === "timer")
              cleanups.push(this.#options.clock.after(Math.max(0, branch.at - this.#options.clock.now()), () => resolve(index)));
            else if (branch.type === "step") void this.#step(branch.spec.key, branch.spec.run).then(() => resolve(index), reject);
            else if (this.#inbox.length > this.#read) resolve(index);
            else {
              const wake = (): void => resolve(index);
              this.#listeners.add(wake);
              cleanups.push(() => this.#listeners.delete(wake));
            }
          });
          const abort = (): void => reject(new OperatorError({ kind: "non-retryable", message: `the wait "${key}" was cancelled` }));
          this.signal.addEventListener("abort", abort, { once: true });
          cleanups.push(() => this.signal.removeEventListener("abort", abort));
          if (this.signal.aborted) abort();
        });
      } finally {
        for (const cleanup of cleanups) cleanup();
      }
    });
  }

  decide<T>(point: string, run: () => T | Promise<T>): Promise<T> {
    let decision = this.#decisions.get(point);
    if (decision === undefined) {
      decision = (async () => run())().catch((error: unknown) => {
        throw error instanceof Suspension
          ? error
          : new AgentError(
              { kind: "panic", callback: point, message: `"${point}" threw: ${error instanceof Error ? error.message : String(error)}` },
              { cause: error },
            );
      });
      this.#decisions.set(point, decision);
    }
    return decision as Promise<T>;
  }

  async sleepUntil(key: string, at: number): Promise<void> {
    await this.select(`sleep/${key}`, [{ type: "timer", at }]);
  }

  async commit(key: string, event: DurableEvent): Promise<number> {
    const known = this.#committed.get(key);
    if (known !== undefined) return known;
    this.#committed.set(key, this.#committed.size + 1);
    this.#options.onEvent?.(event);
    return this.#committed.size;
  }

  emit(event: TransientEvent): void {
    this.#options.onEvent?.(event);
  }

  async inbox(_point: string): Promise<readonly InboxEntry[]> {
    const entries = this.#inbox.slice(this.#read);
    this.#read = this.#inbox.length;
    return entries;
  }

  suspend(): never {
    throw new OperatorError({
      kind: "non-retryable",
      message: "this operator wants to wait for longer than its process lives: run it where there is a log",
    });
  }

  startChild(spec: ChildSpec): Promise<OperatorOutput> {
    if (this.#options.startChild) return this.#options.startChild(spec);
    throw new OperatorError({
      kind: "sub-dispatch",
      operator: spec.operator,
      message: `"${spec.operator}" can't be started here: there is no orchestrator`,
    });
  }

  #step(key: string, run: (attempt: StepAttempt) => Promise<unknown>): Promise<StepResult<unknown>> {
    let result = this.#steps.get(key);
    if (result === undefined) {
      result = this.#attempt(key, run);
      this.#steps.set(key, result);
    }
    return result;
  }

  async #attempt(key: string, run: (attempt: StepAttempt) => Promise<unknown>): Promise<StepResult<unknown>> {
    const { clock } = this.#options;
    const startedAt = clock.now();
    try {
      const value = await run({
        number: 1,
        idempotencyKey: `${this.runId}/${key}`,
        signal: this.signal,
        emit: (event) => this.emit(event),
      });
      return { ok: true, value, startedAt, endedAt: clock.now() };
    } catch (error) {
      return { ok: false, failure: stepFailureOf(error), startedAt, endedAt: clock.now() };
    }
  }
}

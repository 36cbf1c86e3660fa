import {
  LogError,
  OperatorError,
  type Authority,
  type ChildSpec,
  type DurableEvent,
  type EventLog,
  type ExecutionContext,
  type InboxEntry,
  type InboxMessage,
  type Json,
  type Operator,
  type OperatorInput,
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
import type { Clock } from "../platform/clock.ts";
import { Execution } from "../session/execution.ts";
import { Journal } from "../session/journal.ts";
import { Suspension } from "../session/suspension.ts";
import { createMemoryBlobStore } from "../state/memory/memory-blob-store.ts";
import { createMemoryEventLog } from "../state/memory/memory-event-log.ts";
import { checkOptionNames } from "../json/option-names.ts";

export interface OperatorContextOptions {
  readonly clock: Clock;
  readonly operator: string;
  readonly runId: RunId;
  readonly session: SessionId;
  readonly parent?: { readonly run: RunId } | undefined;
  readonly signal: AbortSignal;
  /** Unix ms. */
  readonly deadline?: number | undefined;
  readonly authority: Authority;
  /** Told what the operator commits and emits. What it throws is thrown to the operator. */
  onEvent?(event: DurableEvent | TransientEvent): void;
  /** Default: it can start no children. */
  startChild?(spec: ChildSpec): Promise<OperatorOutput>;
}

interface Opened {
  readonly log: EventLog;
  readonly execution: Execution;
}

/**
 * The execution context of one dispatch of an operator that has no log of its own, for any orchestrator: that of runs, over a log in
 * memory, which is made when the operator first needs it and let go with the dispatch.
 */
export class OperatorContext implements ExecutionContext {
  readonly runId: RunId;
  readonly session: SessionId;
  readonly parent?: { readonly run: RunId };
  readonly signal: AbortSignal;
  readonly deadline?: number;
  readonly authority: Authority;
  readonly #options: OperatorContextOptions;
  #opened: Promise<Opened> | undefined;
  /** What was written to the inbox before. */
  #written: Promise<unknown> = Promise.resolve();
  #over = false;

  constructor(options: OperatorContextOptions) {
    checkOptionNames("OperatorContext", options, {
      clock: true,
      operator: true,
      runId: true,
      session: true,
      parent: true,
      signal: true,
      deadline: true,
      authority: true,
      onEvent: true,
      startChild: true,
    });
    this.#options = options;
    this.runId = options.runId;
    this.session = options.session;
    if (options.parent) this.parent = options.parent;
    this.signal = options.signal;
    if (options.deadline !== undefined) this.deadline = options.deadline;
    this.authority = options.authority;
  }

  /** Has an operator work, and lets go of its log. */
  async execute(operator: Operator, input: OperatorInput): Promise<OperatorOutput> {
    try {
      this.signal.throwIfAborted();
      return await operator.execute(input, this);
    } catch (error) {
      throw error instanceof Suspension ? refusedSuspension(this.#options.operator, error) : error;
    } finally {
      await this.end();
    }
  }

  /** Lets go of the log. An operator that is left behind records nothing from here on: what it tries is rejected. */
  async end(): Promise<void> {
    this.#over = true;
    if (this.#opened === undefined) return;
    const { log, execution } = await this.#opened;
    await execution.journal.close();
    await log[Symbol.asyncDispose]();
  }

  /**
   * Writes what `inbox` will hand out. A key that was written before is not written again.
   * @returns false where the dispatch is over: nothing reaches it any more
   */
  write(key: string, message: InboxMessage): Promise<boolean> {
    const before = this.#written;
    const writing = (async () => {
      await before;
      return this.#write(key, message);
    })();
    this.#written = writing.catch(() => {});
    return writing;
  }

  async #write(key: string, message: InboxMessage): Promise<boolean> {
    if (this.#over) return false;
    const { journal } = await this.#execution();
    try {
      await journal.writeInbox(key, message);
    } catch (error) {
      if (LogError.is(error, "closed")) return false;
      if (!LogError.is(error, "conflict")) throw error;
    }
    return true;
  }

  async step<T>(key: string, run: (attempt: StepAttempt) => Promise<T & Json<T>>): Promise<StepResult<T>> {
    return (await this.#execution()).step(key, run);
  }

  async steps<const S extends readonly StepSpec<unknown>[]>(
    specs: S,
  ): Promise<{ readonly [I in keyof S]: S[I] extends StepSpec<infer T> ? StepResult<T> : never }> {
    return (await this.#execution()).steps(specs);
  }

  async select(key: string, branches: readonly SelectBranch[]): Promise<number> {
    await this.#written;
    return (await this.#execution()).select(key, branches);
  }

  /** Its own kind of key: a step may be called like a decision. */
  async decide<T>(point: string, run: () => T | Promise<T>): Promise<T> {
    return (await this.#execution()).decide(`decide/${point}`, run);
  }

  async sleepUntil(key: string, at: number): Promise<void> {
    return (await this.#execution()).sleepUntil(key, at);
  }

  async commit(key: string, event: DurableEvent): Promise<number> {
    return (await this.#execution()).commit(key, event);
  }

  emit(event: TransientEvent): void {
    this.#options.onEvent?.(event);
  }

  async inbox(point: string): Promise<readonly InboxEntry[]> {
    await this.#written;
    return (await this.#execution()).inbox(point);
  }

  suspend(reason: SuspendReason, waits: readonly Wait[]): never {
    throw new Suspension(reason, waits);
  }

  async startChild(spec: ChildSpec): Promise<OperatorOutput> {
    return (await this.#execution()).startChild(spec);
  }

  async #execution(): Promise<Execution> {
    return (await (this.#opened ??= this.#open())).execution;
  }

  async #open(): Promise<Opened> {
    const { clock, operator, runId, session, parent, signal, deadline, authority } = this.#options;
    if (this.#over) throw new LogError({ kind: "closed", message: `The dispatch "${runId}" is over: nothing is recorded of it any more.` });
    const log = createMemoryEventLog({ now: () => clock.now() });
    const journal = await Journal.open({
      log,
      blobs: createMemoryBlobStore(),
      clock,
      session,
      owner: runId,
      durability: "process",
      recordsPerSnapshot: Number.POSITIVE_INFINITY,
    });
    const execution = new Execution({
      journal,
      clock,
      runId,
      session,
      parent,
      signal,
      // A stop comes to the inbox: it is the operator's to look.
      stopping: new AbortController().signal,
      deadline,
      authority,
      committed: (event) => this.#options.onEvent?.(event),
      emit: (event) => this.emit(event),
      startChild: (spec) => this.#options.startChild?.(spec) ?? cannotStart(spec),
    });
    execution.put("start", "run-start", { session, agent: operator, definition: "", model: "" });
    return { log, execution };
  }
}

function refusedSuspension(operator: string, { reason }: Suspension): OperatorError {
  return new OperatorError({
    kind: "non-retryable",
    message: `"${operator}" wants to wait for longer than its process lives (${reason}), and there is no log that would keep it: let it wait with select or sleepUntil, or make it an agent of a runner.`,
  });
}

async function cannotStart({ operator }: ChildSpec): Promise<never> {
  throw new OperatorError({
    kind: "sub-dispatch",
    operator,
    message: `"${operator}" can't be started here: there is no orchestrator`,
  });
}

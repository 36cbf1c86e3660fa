import type {
  Appended,
  BudgetLedger,
  BudgetScope,
  CallId,
  EventLog,
  InferEvent,
  LogId,
  NewRecord,
  Provider,
  RunId,
  SessionId,
  Tool,
  ToolCall,
  ToolEffect,
  ToolOutput,
} from "@keelson/protocol";
import { describeAppend, shortId } from "./step.ts";

/** A call as a tool saw it. */
export interface Execution {
  readonly tool: string;
  readonly effect: ToolEffect;
  readonly session: SessionId;
  readonly runId: RunId;
  readonly callId: CallId;
  readonly key: string;
  readonly input: unknown;
  readonly process: number;
  /** What it came to; absent where it never came to an end. */
  end?: { readonly output: ToolOutput } | { readonly error: unknown };
}

/** What the stores and tools of a run saw, below all faults: the truth about it. */
export class Witness {
  readonly executions: Execution[] = [];
  /** What was seen that must not be. */
  readonly problems: string[] = [];
  /** Tokens of all responses that models gave to the end. */
  tokens = 0;
  /** By the session's call, what a tool's own check found. */
  readonly reconciled: Map<string, "done" | "not-done" | "unknown"> = new Map();
  readonly scopes: Map<string, BudgetScope> = new Map();
  /** What was reserved and is neither settled nor given back, with the process that did. */
  readonly reserved: Map<string, number> = new Map();
  /** What logs said that they took. */
  #acknowledged: { readonly log: LogId; readonly seq: number; readonly record: NewRecord; readonly about: string }[] = [];
  readonly #epochs = new Map<LogId, { readonly epoch: number; readonly process: number }>();

  log(log: EventLog, process: number): EventLog {
    return {
      append: async (id, expectedSeq, records, options) => {
        const holder = this.#epochs.get(id);
        const before = options?.epoch === undefined ? 0 : await log.head(id);
        const appended = await log.append(id, expectedSeq, records, options);
        const isStale = options?.epoch !== undefined && holder !== undefined && options.epoch < holder.epoch;
        if (isStale && appended.seq > before)
          this.problems.push(
            `the log took an append of process ${process} (${describeAppend(id, records)}) after process ${holder.process} had taken over its lease`,
          );
        this.#acknowledge(id, records, appended, expectedSeq);
        return appended;
      },
      read: (id, options) => log.read(id, options),
      head: (id) => log.head(id),
      list: (options) => log.list(options),
      delete: async (id) => {
        await log.delete(id);
        this.#acknowledged = this.#acknowledged.filter((taken) => taken.log !== id);
      },
      acquire: async (id, options) => {
        const lease = await log.acquire(id, options);
        const held = this.#epochs.get(id);
        if (held === undefined || lease.epoch > held.epoch) this.#epochs.set(id, { epoch: lease.epoch, process });
        else this.problems.push(`the log gave the lease of ${id} to process ${process} with the epoch ${lease.epoch}, which is not new`);
        return lease;
      },
      [Symbol.asyncDispose]: () => log[Symbol.asyncDispose](),
    };
  }

  ledger(ledger: BudgetLedger, process: number): BudgetLedger {
    return {
      id: ledger.id,
      reserve: async (key, scopes, amount, options) => {
        for (const scope of scopes) this.scopes.set(scope.id, scope);
        const reservation = await ledger.reserve(key, scopes, amount, options);
        if (reservation.type === "reserved") this.reserved.set(key, process);
        return reservation;
      },
      settle: async (key, actual) => {
        await ledger.settle(key, actual);
        this.reserved.delete(key);
      },
      release: async (key) => {
        await ledger.release(key);
        this.reserved.delete(key);
      },
      spent: (scope) => ledger.spent(scope),
      used: (scope) => ledger.used(scope),
      retire: (scope) => ledger.retire(scope),
      changed: (scopes, options) => ledger.changed(scopes, options),
    };
  }

  provider(provider: Provider): Provider {
    return Object.assign(Object.create(provider) as Provider, {
      stream: (...given) => this.#counted(provider.stream(...given)),
    } satisfies Pick<Provider, "stream">);
  }

  async *#counted(events: AsyncIterable<InferEvent>): AsyncGenerator<InferEvent> {
    for await (const event of events) {
      if (event.type === "end") this.tokens += (event.usage.inputTokens ?? 0) + (event.usage.outputTokens ?? 0);
      yield event;
    }
  }

  tool(tool: Tool, process: number): Tool {
    return Object.assign(Object.create(tool) as Tool, {
      execute: async (input: unknown, call: ToolCall) => {
        const { session, runId, callId, idempotencyKey: key } = call;
        const execution: Execution = { tool: tool.name, effect: tool.effect, session, runId, callId, key, input, process };
        this.#begin(execution);
        try {
          const output = await tool.execute(input, call);
          execution.end = { output };
          return output;
        } catch (error) {
          execution.end = { error };
          throw error;
        }
      },
      ...(tool.reconcile && {
        reconcile: async (input: unknown, call: ToolCall) => {
          const found = (await tool.reconcile?.(input, call)) ?? "unknown";
          this.reconciled.set(callName(call.session, call.callId), typeof found === "string" ? found : "done");
          return found;
        },
      }),
    });
  }

  /** Calls of tools that have not come to an end. */
  get open(): number {
    return this.executions.filter(({ end }) => end === undefined).length;
  }

  /** What was done for a call. */
  executionsOf(session: SessionId, callId: CallId): readonly Execution[] {
    return this.executions.filter((execution) => execution.session === session && execution.callId === callId);
  }

  /** What logs took and don't hold. */
  async lost(log: EventLog): Promise<readonly string[]> {
    const lost: string[] = [];
    const keys = new Map<LogId, ReadonlyMap<number, string>>();
    for (const { log: id, seq, record, about } of this.#acknowledged) {
      if (!keys.has(id)) keys.set(id, await keysOf(log, id));
      const held = keys.get(id)?.get(seq);
      if (held !== `${record.type} ${record.key}`)
        lost.push(
          `the log acknowledged ${record.type} as record ${seq} of ${id} (append of ${about}), and holds ${held ?? "nothing"} there`,
        );
    }
    return lost;
  }

  #begin(execution: Execution): void {
    const { session, callId, tool, effect, key } = execution;
    const before = this.executionsOf(session, callId);
    const name = `\`${tool}\` (${effect}, call ${shortId(callId)})`;
    // Its own check said that it had not run, or a person who was asked.
    const mayRunAgain = this.reconciled.get(callName(session, callId)) === "not-done" && before.every(({ end }) => end === undefined);
    if (effect === "write" && before.length > 0 && !mayRunAgain)
      this.problems.push(
        `${name} was executed ${before.length + 1} times for one call, by the processes ${[...before, execution].map((one) => one.process).join(", ")}`,
      );
    if (before.some((other) => other.key !== key)) this.problems.push(`${name} was executed under several idempotency keys`);
    this.executions.push(execution);
  }

  #acknowledge(log: LogId, records: readonly NewRecord[], { seq }: Appended, expectedSeq: number | "any"): void {
    // Where some stood there already, `any` says nothing of the places of the others.
    if (expectedSeq === "any" && records.length > 1) return;
    const about = describeAppend(log, records);
    const first = seq - records.length + 1;
    for (const [index, record] of records.entries()) this.#acknowledged.push({ log, seq: first + index, record, about });
  }
}

export function callName(session: SessionId | string, callId: CallId | string): string {
  return `${session} ${callId}`;
}

async function keysOf(log: EventLog, id: LogId): Promise<ReadonlyMap<number, string>> {
  const keys = new Map<number, string>();
  for await (const { seq, type, key } of log.read(id)) keys.set(seq, `${type} ${key}`);
  return keys;
}

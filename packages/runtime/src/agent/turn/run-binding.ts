import type { CompactionPolicy, Message } from "@keelson/protocol";
import type { ContextBinding } from "../../context/rule.ts";
import type { ContextMetrics } from "../../context/rule.ts";
import type { Execution } from "../../session/execution.ts";

/** Binds a context to a run: messages and verdicts go into its log. */
export class RunBinding implements ContextBinding {
  readonly #execution: Execution;
  #injected = 0;

  constructor(execution: Execution) {
    this.#execution = execution;
  }

  append(key: string | undefined, message: Message, policy: CompactionPolicy | undefined): void {
    const { seq } = this.#execution.journal.state;
    this.#execution.put(key ?? `inject/${seq}/${++this.#injected}`, "message", { message, ...(policy && { policy }) });
  }

  decide<T>(point: string, run: () => Promise<T>): Promise<T> {
    return this.#execution.decide(point, run);
  }

  isDecided(point: string): boolean {
    return this.#execution.has(point);
  }

  warn(message: string): void {
    this.#execution.emit({ type: "status", status: message, level: "warn" });
  }

  metrics(): ContextMetrics {
    const { run, at } = this.#execution.journal.state;
    if (run === undefined) throw new RangeError("metrics belong to a run");
    const { turns, modelCalls, toolCalls, usage, cost } = run.totals;
    return { turnsCompleted: turns, modelCalls, toolCallsTotal: toolCalls, usage, cost, elapsedMs: Math.max(0, at - run.startedAt) };
  }
}

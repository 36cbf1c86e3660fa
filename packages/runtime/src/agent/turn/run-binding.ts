import type { CompactionPolicy, JsonObject, Message, PermissionMode, SessionId, StateReader } from "@keelson/protocol";
import type { CompactionStrategy } from "../../context/compaction/strategy.ts";
import type { ContextBinding } from "../../context/rule.ts";
import type { ContextMetrics } from "../../context/rule.ts";
import type { PlannedRequest } from "../../context/xray/xray-conversation.ts";
import type { Execution } from "../../session/execution.ts";
import { sourceLine } from "../../session/untrusted-sources.ts";

/** Binds a context to a run: messages and verdicts go into its log. */
export class RunBinding implements ContextBinding {
  readonly #execution: Execution;
  readonly planned: () => PlannedRequest;
  readonly compact: (key: string, strategy: CompactionStrategy) => Promise<boolean>;
  readonly state: StateReader | undefined;
  readonly permissionMode: () => PermissionMode;
  #injected = 0;

  constructor(
    execution: Execution,
    { planned, compact, state, permissionMode }: Pick<RunBinding, "planned" | "compact" | "state" | "permissionMode">,
  ) {
    this.#execution = execution;
    this.planned = planned;
    this.compact = compact;
    this.state = state;
    this.permissionMode = permissionMode;
  }

  get session(): SessionId {
    return this.#execution.session;
  }

  get kept(): JsonObject | undefined {
    return this.#execution.journal.state.kept;
  }

  append(
    key: string | undefined,
    message: Message,
    policy: CompactionPolicy | undefined,
    untrusted: readonly string[] | undefined = [],
  ): void {
    const { seq } = this.#execution.journal.state;
    const sources = untrusted.length === 0 ? undefined : { untrusted: untrusted.map(sourceLine) };
    this.#execution.put(key ?? `inject/${seq}/${++this.#injected}`, "message", { message, ...(policy && { policy }), ...sources });
  }

  decide<T>(point: string, run: () => Promise<T>): Promise<T> {
    return this.#execution.decide(point, run);
  }

  isDecided(point: string): boolean {
    // In a rehearsal no code of the user is asked: what is not decided yet ends it.
    return this.#execution.outside !== undefined || this.#execution.has(point);
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

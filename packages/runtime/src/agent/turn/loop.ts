import type {
  Authority,
  BlobStore,
  BudgetLedger,
  BudgetScope,
  EffectExecutor,
  Executor,
  JsonValue,
  SecretResolver,
  StateReader,
  ToolSchema,
  Vfs,
} from "@keelson/protocol";
import type { InferenceSettings } from "../../context/compile-request.ts";
import type { Context } from "../../context/context.ts";
import type { Execution } from "../../session/execution.ts";
import type { RunState, SessionState } from "../../session/session-state.ts";
import type { ToolSet } from "../../tools/tool-registry.ts";
import type { Agent } from "../definition/agent.ts";
import type { FilterChain } from "../definition/effects/filter-chain.ts";
import type { EventHub } from "./events/event-hub.ts";
import type { ModelSource } from "../definition/model-source.ts";
import type { AttemptSignal } from "./attempt-signal.ts";
import type { CutAnswer } from "./cut-answer.ts";
import type { RunParts } from "./run-parts.ts";
import type { Limits } from "../definition/limits.ts";
import type { AnswerForm } from "../definition/output/answer-form.ts";
import type { CompiledPolicy } from "../definition/permissions/compiled-policy.ts";
import type { SignalRouter } from "../definition/signals/signal-router.ts";

/** What tools are given of the world. */
export interface ToolWorld {
  readonly files?: Vfs;
  readonly exec?: Executor;
  readonly state?: StateReader;
  readonly secrets?: SecretResolver;
}

/** One run at work: all that the functions of the loop share. */
export interface Loop {
  readonly agent: Agent<unknown>;
  readonly tools: ToolSet;
  /** The tools that the model may call, as it is told of them; fewer in the states of a strategy: `schemasOf`. */
  readonly schemas: readonly ToolSchema[];
  /** What is done about signals, when there are routes. */
  readonly signals: SignalRouter | undefined;
  /** How long a call that waits for a signal or for time is waited for here before the run suspends. */
  readonly signalWaitMs: number;
  readonly limits: Limits;
  /** What the agent says of every request. */
  readonly settings: InferenceSettings;
  readonly context: Context;
  readonly execution: Execution;
  /** What the ids of its calls begin with. */
  readonly callPrefix: string;
  readonly models: ModelSource;
  readonly authority: Authority;
  readonly policies: readonly CompiledPolicy[];
  readonly ledger: BudgetLedger;
  /** What its calls count against: its own budget, those of its ancestors, and what the program shares. */
  readonly scopes: readonly BudgetScope[];
  /** Names this process to ledgers. */
  readonly owner: string;
  readonly blobs: BlobStore;
  readonly world: ToolWorld;
  /** Carries out what the run declares; without it, effects are only listed in the outcome. */
  readonly effects: EffectExecutor | undefined;
  /** Who carries out a handoff: this run, or whoever called it. */
  readonly handoffs: "caller" | "runner";
  /** What directives pass before they are declared. */
  readonly filters: FilterChain | undefined;
  /** How the structured output is asked for, where the agent has one. */
  readonly form: AnswerForm | undefined;
  /** The model was just told that its answer is not accepted. */
  repairing: boolean;
  /** What the answer that broke off last had said, until it is asked for again: the end of the run keeps it. */
  cut: CutAnswer | undefined;
  /** The structured output, once the run has one, as the log keeps it. */
  output: JsonValue | undefined;
  /** The same as the schema gave it, for who waits in this process. */
  value: unknown;
  /** What its features keep while it works. */
  readonly parts: RunParts;
  /** Heeds what others wrote to the session since the last point: the loop's, which knows what each kind of entry does. */
  readInbox(point: string): Promise<void>;
  /** Why this process was told to end the run, where somebody said so. */
  readonly toldWhy?: () => string | undefined;
  /** Ends an attempt at the model, because the run was aborted or somebody steered with `interrupt`. */
  readonly attempts: AttemptSignal;
  /** Draws from 0 to 1, for jitter; what comes of it is recorded. */
  random(): number;
  /** Where watchers get what streams. */
  readonly hub: Pick<EventHub, "delta" | "deltas" | "watched" | "nextAttempt">;
  /** Notes what the loop does, where somebody debugs it. */
  readonly debug: ((message: string) => void) | undefined;
}

export function sessionOf(loop: Loop): SessionState {
  return loop.execution.journal.state;
}

export function runOf(loop: Loop): RunState {
  return loop.execution.journal.state.run as RunState;
}

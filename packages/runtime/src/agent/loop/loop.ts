import type {
  ApprovalRequest,
  Approver,
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
  Usd,
  Vfs,
} from "@keelson/protocol";
import type { InferenceSettings } from "../../context/compile-request.ts";
import type { Context } from "../../context/context.ts";
import type { Execution } from "../../session/execution.ts";
import type { RunState, SessionState } from "../../session/session-state.ts";
import type { ToolSet } from "../../tools/tool-registry.ts";
import type { Agent } from "../agent.ts";
import type { ApprovalTokens } from "../approvals/approval-token.ts";
import type { Background } from "../children/background.ts";
import type { BudgetMeter } from "../budget/budget-meter.ts";
import type { FilterChain } from "../effects/filter-chain.ts";
import type { EventHub } from "../event-hub.ts";
import type { LoopHooks } from "../hooks/loop-hooks.ts";
import type { ModelSource } from "../model-source.ts";
import type { LoopPlugins } from "../plugins/call-plugins.ts";
import type { AttemptSignal } from "./attempt-signal.ts";
import type { CutAnswer } from "./cut-answer.ts";
import type { AnswerForm } from "../output/answer-form.ts";
import type { PartialAnswers } from "../output/partial-answers.ts";
import type { CompiledPolicy } from "../permissions/compiled-policy.ts";
import type { SignalRouter } from "../signals/signal-router.ts";
import type { Constraint } from "../strategies/constraint.ts";

/** The limits of a run with every default filled in. */
export interface Limits {
  readonly maxTurns: number;
  readonly maxModelCalls: number;
  readonly maxCost: Usd | undefined;
  readonly maxTokens: number | undefined;
  readonly unknownPrice: "refuse" | "allow";
  readonly withoutUsage: "reserve" | "estimate";
  readonly maxDurationMs: number | undefined;
  readonly maxToolCalls: number | undefined;
  readonly maxFailedTurns: number;
  readonly maxRetries: number;
  readonly maxRetryDelayMs: number;
  readonly maxRepairs: number;
  readonly maxAnswerBytes: number;
  readonly maxAnswerCalls: number;
  readonly toolTimeoutMs: number | undefined;
  readonly maxParallelCalls: number;
  readonly maxBackground: number;
}

/** What tools are given of the world. */
export interface ToolWorld {
  readonly files?: Vfs;
  readonly exec?: Executor;
  readonly state?: StateReader;
  readonly secrets?: SecretResolver;
}

/** How questions to people are asked. */
export interface Approvals {
  readonly tokens: ApprovalTokens;
  readonly approver: Approver | undefined;
  /** Whether somebody in this process takes questions from `run.approvals()`. */
  readonly watched: boolean;
  /** Shows a question to whoever takes them. */
  ask(request: ApprovalRequest): void;
  /** How long such a person is waited for before the run suspends. */
  readonly waitMs: number;
  /** How long a token is good. */
  readonly ttlMs: number;
}

/** One run at work: all that the functions of the loop share. */
export interface Loop {
  readonly agent: Agent<unknown>;
  readonly tools: ToolSet;
  /** The tools that the model may call, as it is told of them; fewer in the states of a strategy: `schemasOf`. */
  readonly schemas: readonly ToolSchema[];
  /** What the agent's state machine leaves of its tools, when it has one. */
  readonly constraint: Constraint | undefined;
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
  /** Absent where the agent has none. */
  readonly hooks: LoopHooks | undefined;
  readonly models: ModelSource;
  readonly authority: Authority;
  readonly policies: readonly CompiledPolicy[];
  readonly ledger: BudgetLedger;
  /** What its calls count against: its own budget, those of its ancestors, and what the program shares. */
  readonly scopes: readonly BudgetScope[];
  /** Absent where nothing is limited. */
  readonly meter: BudgetMeter | undefined;
  /** Names this process to ledgers. */
  readonly owner: string;
  readonly approvals: Approvals;
  readonly blobs: BlobStore;
  readonly world: ToolWorld;
  /** Carries out what the run declares; without it, effects are only listed in the outcome. */
  readonly effects: EffectExecutor | undefined;
  /** Who carries out a handoff: this run, or whoever called it. */
  readonly handoffs: "caller" | "runner";
  /** What directives pass before they are declared. */
  readonly filters: FilterChain | undefined;
  /** Children and tasks beside the turns; without it, directives about them are unsupported. */
  readonly background?: Background;
  /** How the structured output is asked for, where the agent has one. */
  readonly form: AnswerForm | undefined;
  /** The output as it streams. */
  readonly partials: PartialAnswers | undefined;
  /** The model was just told that its answer is not accepted. */
  repairing: boolean;
  /** What the answer that broke off last had said, until it is asked for again: the end of the run keeps it. */
  cut: CutAnswer | undefined;
  /** The structured output, once the run has one, as the log keeps it. */
  output: JsonValue | undefined;
  /** The same as the schema gave it, for who waits in this process. */
  value: unknown;
  /** Ends an attempt at the model, because the run was aborted or somebody steered with `interrupt`. */
  /** Why this process was told to end the run, where somebody said so. */
  readonly toldWhy?: () => string | undefined;
  readonly attempts: AttemptSignal;
  /** Draws from 0 to 1, for jitter; what comes of it is recorded. */
  random(): number;
  /** Absent where the agent has none. */
  readonly plugins: LoopPlugins | undefined;
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

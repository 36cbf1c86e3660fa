import type { EffectExecutor, StateReader, StateStore } from "@keelson/protocol";
import type { Agent } from "./agent/definition/agent.ts";
import { createEphemeralApprovalKeys } from "./agent/turn/approval-keys.ts";
import { checkRunnerOptions } from "./agent/runner/check-runner.ts";
import { createRunnerWith, type ContextOption, type Runner, type SingleRunner } from "./agent/runner/runner.ts";
import type { ContextOf } from "./agent/definition/tool-context/context-factory.ts";
import type { RunnerServices } from "./agent/turn/runner-services.ts";
import type { Agents } from "./agent/definition/agent.ts";
import type { LocalEffectExecutorOptions } from "./orchestration/effects/create-local-effect-executor.ts";
import type { Scheduler } from "./orchestration/schedules/scheduler.ts";
import { openDebugFile } from "./platform/debug-file.ts";
import { randomId } from "./json/random-id.ts";
import { modelsFromEnvironment } from "./providers/models-from-environment.ts";
import { systemClock } from "./platform/clock.ts";
import { createMemoryBlobStore } from "./state/memory/memory-blob-store.ts";
import { createMemoryBudgetLedger } from "./state/memory/memory-budget-ledger.ts";
import { createMemoryEventLog } from "./state/memory/memory-event-log.ts";
import { processOwner } from "./platform/process-owner.ts";
import { definedOptions } from "./json/defined-options.ts";

export { agentTool } from "./agent/definition/children/agent-tool.ts";
export type { AgentTool, AgentToolOptions } from "./agent/definition/agent.ts";
export type { Agent, AgentChanges, AgentOptions, ModelChoice, ModelErrorAction } from "./agent/definition/agent.ts";
export type { AgentLimits } from "./agent/definition/limits.ts";
export type { RunContext } from "./agent/definition/run-context.ts";
export { createAgent } from "./agent/definition/create-agent.ts";
export type { AgentContextRequest, ContextFactory, ContextRequest } from "./agent/definition/tool-context/context-factory.ts";
export type { Budget, PendingApproval, Run, RunInput, RunOptions, RunOutcome } from "./agent/definition/run.ts";
export type { Recovery } from "./agent/runner/recover-runs.ts";
export type { Rehearsal } from "./agent/runner/rehearsal/rehearse.ts";
export type { RehearseOptions } from "./agent/runner/rehearsal/rehearse-options.ts";
export type { RehearsalVerdict, RehearsedSession } from "./agent/runner/rehearsal/rehearsed-session.ts";
export type { Runner, SingleRunner } from "./agent/runner/runner.ts";
export { createModelRegistry, type ModelRegistry, type ModelRegistryOptions } from "./providers/model-registry.ts";
export { defineTool } from "./tools/define-tool.ts";
export type { ToolDefinition } from "./tools/tool-definition.ts";
export type { Sessions, SessionView } from "./session/sessions.ts";
// What users name of the protocol, so that it need not be installed beside this package.
export {
  AgentError,
  DecodeError,
  DirectiveError,
  EnvironmentError,
  KeelsonError,
  LogError,
  ModelError,
  OperatorError,
  OrchestratorError,
  StateError,
  StrategyError,
  ToolError,
  VfsError,
  addUsd,
  compareUsd,
  eventCodec,
  isFinal,
  textMessage,
  usd,
  type ActionId,
  type AgentEvent,
  type AgentFailure,
  type AlwaysChoice,
  type AppendOptions,
  type ApprovalRequest,
  type Approver,
  type Authority,
  type BlobStore,
  type BudgetAmount,
  type BudgetLedger,
  type BudgetScope,
  type CallEffects,
  type CallId,
  type CallSummary,
  type ChildSpec,
  type CompactionPolicy,
  type Content,
  type Decision,
  type Digest,
  type Directive,
  type DirectiveFilter,
  type DirectiveResult,
  type DispatchOptions,
  type DispatchResult,
  type DispatchTask,
  type Durability,
  type DurableEvent,
  type DurablePosition,
  type EmittedEvent,
  type Effect,
  type EffectContext,
  type EffectExecutor,
  type EffortLevel,
  type EmbedOptions,
  type EmbedResult,
  type Embedder,
  type EndReason,
  type Environment,
  type EnvironmentSpec,
  type EventLog,
  type ExecuteRequest,
  type ExecuteResponse,
  type MovedEntry,
  type ExecutionContext,
  type Executor,
  type Failure,
  type FilePart,
  type FilterDecision,
  type FsmStateId,
  type GuardCondition,
  type HookMatcher,
  type HookPayloads,
  type HookPoint,
  type HookResult,
  type HookResults,
  type ImagePart,
  type InboxEntry,
  type InboxMessage,
  type InferEnd,
  type InferEvent,
  type InferOptions,
  type InferRequest,
  type InferResponse,
  type Json,
  type JsonObject,
  type JsonValue,
  type Lease,
  type LifecycleEvent,
  type LogFailure,
  type LogId,
  type LogInfo,
  type LogRecord,
  type Message,
  type MiddlewareInput,
  type MiddlewareResult,
  type ModelCapabilities,
  type ModelFailure,
  type ModelInfo,
  type NewRecord,
  type ObservableEvent,
  type OpenQuestion,
  type Operator,
  type OperatorConfig,
  type OperatorInput,
  type OperatorOutput,
  type Orchestrator,
  type OtherEvent,
  type Page,
  type PermissionBehavior,
  type PermissionMode,
  type PermissionPolicy,
  type PermissionRule,
  type PluginInput,
  type Provider,
  type Query,
  type RateLimit,
  type Reconciliation,
  type RecordedEvent,
  type RefusalPart,
  type Reservation,
  type ReserveOptions,
  type RiskLevel,
  type Role,
  type RunId,
  type RunReason,
  type Scope,
  type SearchOptions,
  type SearchResult,
  type SecretResolver,
  type SelectBranch,
  type LaterFailure,
  type RecordedEnd,
  type RecordedError,
  type RecordedFailure,
  type SerializedError,
  type Session,
  type SessionId,
  type SessionMetadata,
  type Signal,
  type SignalAction,
  type SignalKind,
  type SignalRoute,
  type StateReader,
  type StateStore,
  type StepAttempt,
  type StepResult,
  type StepSpec,
  type StopReason,
  type StoreOptions,
  type StoredValue,
  type SubDispatchRecord,
  type SummarisationThresholds,
  type SuspendReason,
  type TextPart,
  type ThinkingConfig,
  type ThinkingPart,
  type Tool,
  type ToolCall,
  type ToolCallPart,
  type ToolConcurrency,
  type ToolContent,
  type ToolEffect,
  type ToolFailure,
  type ToolOutput,
  type ToolResultPart,
  type ToolSchema,
  type TransientEvent,
  type TransientPosition,
  type Usage,
  type Usd,
  type ValidationResult,
  type Vfs,
  type Wait,
} from "@keelson/protocol";

/** {@link RunnerServices} with everything optional: what is left out lives in this process's memory. */
export type RunnerOptions = { readonly [Part in keyof RunnerServices]?: RunnerServices[Part] | undefined };

/**
 * Binds an agent, or several by name, to the services that its runs need. With nothing more it runs in memory; models named `anthropic/…`,
 * `openai/…`, `openai-responses/…` (the same vendor over its Responses API) and `gemini/…` are found through the keys in the
 * environment (`ANTHROPIC_API_KEY`, `OPENAI_API_KEY`, `GEMINI_API_KEY`), `ollama/…` through `OLLAMA_HOST`. Give it a `log` and
 * `blobs` from `keelson/state`, and `approvalKeys`, to outlive the process.
 *
 * ```ts
 * const run = createRunner({ agent }).run("What is in the README?");
 * for await (const event of run) if (event.type === "text-delta") process.stdout.write(event.text);
 * const { reason, text, cost } = await run.outcome;
 * ```
 */
export function createRunner<Out, Context = unknown>(
  options: RunnerOptions & { readonly agent: Agent<Out, Context> } & ContextOption<Context>,
): SingleRunner<Out>;
export function createRunner<A extends Agents<never>>(
  options: RunnerOptions & { readonly agents: A } & ContextOption<ContextOf<A[keyof A]>>,
): Runner<A>;
// The compiler explains the last overload if none fits: the first one again, so that it names what one agent lacks, such as `context`.
export function createRunner<Out, Context = unknown>(
  options: RunnerOptions & { readonly agent: Agent<Out, Context> } & ContextOption<Context>,
): SingleRunner<Out>;
export function createRunner(
  options: RunnerOptions & { readonly agent?: Agent<unknown> | undefined; readonly agents?: Agents<never> | undefined },
): SingleRunner<unknown> | Runner<Agents<never>> {
  checkRunnerOptions(options);
  const clock = options.clock ?? systemClock;
  const state = options.state ?? options.log?.state;
  const blobs = options.blobs ?? options.log?.blobs ?? createMemoryBlobStore();
  const runner: SingleRunner<unknown> = createRunnerWith({
    // A log of our own choosing forgets what ended, unless told otherwise.
    ...(options.log === undefined && { keepEndedSessions: 100, recordsPerSnapshot: Infinity }),
    ...definedOptions(options),
    clock,
    ...(state && { state }),
    log: options.log ?? createMemoryEventLog({ now: () => clock.now() }),
    blobs,
    effects: effectsOf(options.effects, () => ({
      clock,
      blobs,
      ...(isStateStore(state) && { store: state }),
      runner: () => runner,
      scheduler: schedulerOf(() => runner),
    })),
    ledger: options.ledger ?? options.log?.ledger ?? createMemoryBudgetLedger(),
    approvalKeys: options.approvalKeys ?? createEphemeralApprovalKeys(),
    models: options.models ?? modelsFromEnvironment(),
    owner: options.owner ?? processOwner(),
    random: options.random ?? Math.random,
    newId: options.newId ?? randomId,
    openDebugFile: options.openDebugFile ?? openDebugFile,
  } as RunnerServices & { readonly agent: Agent<unknown> });
  return runner;
}

/** Carries out effects, which most runs have none of: made, and its code loaded, with the first. */
function effectsOf(given: EffectExecutor | undefined, defaults: () => LocalEffectExecutorOptions): EffectExecutor {
  let made: Promise<EffectExecutor> | undefined;
  const make = async (): Promise<EffectExecutor> => {
    const { completeEffectExecutor } = await import("./orchestration/effects/create-local-effect-executor.ts");
    return completeEffectExecutor(given, defaults());
  };
  return {
    execute: async (effect, context) => (await (made ??= make())).execute(effect, context),
    supports: (effect) => given?.supports(effect) ?? true,
  };
}

/** Fires in this process, which stays for it; made, and its code loaded, when a run first books something. */
function schedulerOf(runner: () => SingleRunner<unknown>): () => Promise<Pick<Scheduler, "schedule">> {
  let made: Promise<Scheduler> | undefined;
  const make = async (): Promise<Scheduler> => {
    const { createScheduler } = await import("./orchestration/schedules/create-scheduler.ts");
    return createScheduler({ runner: runner() });
  };
  return async () => {
    const scheduler = await (made ??= make());
    return {
      async schedule(request) {
        const id = await scheduler.schedule(request);
        scheduler.start();
        return id;
      },
    };
  };
}

/** A program that gives its runs a store to read, and not just a reader of one, lets their effects write to it. */
function isStateStore(state: StateReader | undefined): state is StateStore {
  return typeof (state as Partial<StateStore> | undefined)?.write === "function";
}

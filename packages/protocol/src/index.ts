export { type Json, type JsonObject, type JsonValue } from "./json.ts";
export type { HostVerdict } from "./host-verdict.ts";
export {
  type Brand,
  type CallId,
  type Digest,
  type LogId,
  type OperatorId,
  type RunId,
  type SessionId,
  type WorkflowId,
  inboxLog,
  snapshotLog,
  sessionOf,
  sessionLog,
} from "./ids.ts";
export { type Usd, ZERO_USD, addUsd, compareUsd, fromPicoUsd, subtractUsd, toPicoUsd, usd } from "./usd.ts";
export { type EstimatedCalls, UNKNOWN_USAGE, type Usage, addEstimated, addUsage } from "./usage.ts";
export {
  type CompactionPolicy,
  type Content,
  type FilePart,
  type ImagePart,
  type Message,
  type OtherPart,
  type ProviderData,
  type RefusalPart,
  type Role,
  type ServerToolPart,
  type TextPart,
  type ThinkingPart,
  type ToolCallPart,
  type ToolResultPart,
  textMessage,
} from "./content.ts";
export { type EmbedOptions, type EmbedResult, type Embedder } from "./embedding.ts";
export {
  type EffortLevel,
  type InferEnd,
  type InferEvent,
  type InferOptions,
  type InferRequest,
  type InferResponse,
  type ModelCapabilities,
  type ModelInfo,
  type Provider,
  type RateLimit,
  type StopReason,
  type ThinkingConfig,
  type ToolChoice,
  type ToolSchema,
  type UnfitTool,
} from "./inference.ts";
export {
  type AlwaysChoice,
  type AskedBudget,
  type AskedPart,
  type AskedQuestion,
  type ApprovalRequest,
  type Approver,
  DECISION_TYPES,
  type Decision,
  type OpenQuestion,
  RISK_LEVELS,
  type RiskLevel,
  compareRisk,
} from "./approval.ts";
export { type CallEffects, type CommandEffect, type Confinement, type DestroyedFiles, type Loss } from "./call-effects.ts";
export {
  type Authority,
  type EffectBounds,
  PERMISSION_MODES,
  type PermissionBehavior,
  type PermissionMode,
  type PermissionPolicy,
  type PermissionRule,
  type SensitivePaths,
} from "./permission.ts";
export {
  type BackgroundJob,
  type BackgroundJobEnding,
  type Reconciliation,
  type ToolRedirect,
  type TextOrigin,
  type ApprovalTest,
  type CallBatch,
  type CallPlace,
  type NeedsContext,
  type PlannedCall,
  type PlannedFiles,
  type PlannedPrograms,
  type Tool,
  type ToolCall,
  type ToolConcurrency,
  type ToolContent,
  type ToolEffect,
  type ToolOutput,
  type ValidationResult,
} from "./tool.ts";
export { type ToolAnswer, type ToolInference, type ToolInferenceAnswer, type ToolQuestion } from "./tool-question.ts";
export { type OpenToolSource, type ToolPins, type ToolSource, type ToolSourcePlace } from "./tool-source.ts";
export { type SecretResolver } from "./secret.ts";
export { type KeyRing, type NamedKey } from "./key-ring.ts";
export {
  type ExecuteRequest,
  type ExecuteResponse,
  type MovedEntry,
  type Executor,
  type JobOutput,
  type JobRequest,
  type Jobs,
  type PipelineRequest,
  type PipelineResponse,
  type PollOptions,
  type StageResponse,
  type TerminalSize,
} from "./executor.ts";
export {
  type DirEntry,
  type EditResult,
  type FileContent,
  type FileInfo,
  type GlobEntry,
  type GlobOptions,
  type PartOptions,
  type GrepMatch,
  type GrepOptions,
  type GrepOutputMode,
  type OmissionReason,
  type SearchOmission,
  type TransferResult,
  type Vfs,
  type VfsCapability,
  type VfsOptions,
  type WriteResult,
} from "./vfs.ts";
export {
  type Appended,
  type AppendOptions,
  type BlobStore,
  type Durability,
  type EventLog,
  type Lease,
  type LogIndex,
  type LogInfo,
  type LogMatch,
  type LogRecord,
  type NewRecord,
  type SealOptions,
  type Sealed,
  type UnindexedRecords,
} from "./log.ts";
export {
  type BudgetAmount,
  type BudgetLedger,
  type BudgetScope,
  type BudgetUnit,
  type Reservation,
  type ReserveOptions,
} from "./budget.ts";
export {
  type Page,
  type Scope,
  type SearchOptions,
  type SearchResult,
  type StateReader,
  type StateStore,
  type StoreOptions,
  type StoredValue,
} from "./state.ts";
export {
  EXIT_CODES,
  type EndReason,
  type ReachedLimit,
  type RunReason,
  type SuspendReason,
  isRunReason,
  isSuspendReason,
} from "./reason.ts";
export type { Operator, OperatorRegistry } from "./operator.ts";
export { checkOperatorConfig, type OperatorConfig, type OperatorInput, type TriggerType, operatorInput } from "./operator-input.ts";
export type { ExitReason, OperatorMetadata, OperatorOutput, SubDispatchRecord } from "./operator-output.ts";
export { type Directive, type Effect, type EffectMeta, type Signal, type SignalKind } from "./effect.ts";
export { type DirectiveFilter, type EffectContext, type EffectExecutor, type EffectHandler, type RunControl } from "./effect-executor.ts";
export { type DispatchOptions, type DispatchResult, type DispatchTask, type Orchestrator, type Query } from "./orchestrator.ts";
export {
  type CredentialRef,
  type Environment,
  type EnvironmentSpec,
  type EnvironmentUser,
  type IsolationBoundary,
  type NetworkPolicy,
  type NetworkRule,
  type OpenEnvironment,
  type ResourceLimits,
  type ToolEnvironment,
} from "./environment.ts";
export {
  type AgentEvent,
  type BudgetEvent,
  type CallSummary,
  type CompactionCause,
  type CompactionStrategyName,
  type DurableEvent,
  type DurablePosition,
  type EmittedEvent,
  type OtherEvent,
  type RecordedEnd,
  type RecordedEvent,
  type TaskEventKind,
  type TransientEvent,
  type TransientPosition,
  type Wait,
  EMITTED_TYPES,
  isDurableEventType,
  isFinal,
} from "./event.ts";
export {
  type ChildSpec,
  type ExecutionContext,
  type InboxEntry,
  type InboxMessage,
  type SelectBranch,
  type StepAttempt,
  type StepFailure,
  type StepResult,
  type StepSpec,
} from "./execution-context.ts";
export { type RunStatus, type Session, type SessionMetadata } from "./session.ts";
export { AGENT_FAILURE_RETRYABLE, AgentError, type AgentFailure } from "./errors/agent-error.ts";
export { DIRECTIVE_FAILURE_RETRYABLE, DirectiveError, type DirectiveFailure } from "./errors/directive-error.ts";
export { ENVIRONMENT_FAILURE_RETRYABLE, EnvironmentError, type EnvironmentFailure } from "./errors/environment-error.ts";
export {
  type Failure,
  KeelsonError,
  type LaterFailure,
  type RecordedError,
  type RecordedFailure,
  type SerializedError,
  describeCause,
  hasBrand,
} from "./errors/keelson-error.ts";
export { LOG_FAILURE_RETRYABLE, LogError, type LogFailure } from "./errors/log-error.ts";
export { MCP_FAILURE_RETRYABLE, McpError, type McpFailure, type McpUnauthorizedReason } from "./errors/mcp-error.ts";
export {
  MODEL_FAILURE_RETRYABLE,
  ModelError,
  type ModelFailure,
  type RequestPartSize,
  type RequestProgress,
} from "./errors/model-error.ts";
export { OPERATOR_FAILURE_RETRYABLE, OperatorError, type OperatorFailure } from "./errors/operator-error.ts";
export { ORCHESTRATOR_FAILURE_RETRYABLE, OrchestratorError, type OrchestratorFailure } from "./errors/orchestrator-error.ts";
export { STATE_FAILURE_RETRYABLE, StateError, type StateFailure } from "./errors/state-error.ts";
export { STRATEGY_FAILURE_RETRYABLE, StrategyError, type StrategyFailure } from "./errors/strategy-error.ts";
export { TOOL_FAILURE_RETRYABLE, ToolError, type ToolFailure } from "./errors/tool-error.ts";
export { VFS_FAILURE_RETRYABLE, VfsError, type VfsFailure } from "./errors/vfs-error.ts";
export { DECODE_FAILURE_RETRYABLE, DecodeError, type DecodeFailure } from "./errors/decode-error.ts";
export { formatDuration, parseDuration } from "./duration.ts";
export { type OutputMode, type SummarisationThresholds, type SystemPromptConfig } from "./agent-config.ts";
export { type ArchiveEntry, type ArchiveInfo } from "./archive.ts";
export { type HookMatcher, type HookPayloads, type HookPoint, type HookResult, type HookResults } from "./hook.ts";
export { type CompactionEvent, type LifecycleEvent, type ObservableEvent } from "./lifecycle-event.ts";
export {
  type ElicitationRequest,
  type ElicitationResult,
  type McpConnectionState,
  type McpHttpSettings,
  type McpIdentityProvider,
  type McpLogLevel,
  type McpOAuthGrant,
  type McpOAuthSettings,
  type McpServerConfig,
  type McpServerSettings,
  type McpServerStatus,
  type McpToolAnnotations,
  type McpToolDescriptor,
  type McpTransportKind,
  type OnElicitation,
} from "./mcp.ts";
export { type DirectiveResult, type FilterDecision, type MiddlewareInput, type MiddlewareResult } from "./middleware.ts";
export { type PluginInput } from "./plugin.ts";
export { type JobInfo, type PipelineStage, type ProcessInfo } from "./process.ts";
export { type FilesystemConfig, type NetworkConfig, type SandboxConfig } from "./sandbox.ts";
export { type SignalAction, type SignalRoute } from "./signal-route.ts";
export { type ActionId, type FsmStateId, type FsmTransition, type GuardCondition } from "./state-machine.ts";
export { type Codec, type OtherMember } from "./decode/codec.ts";
export { decisionCodec } from "./decode/decision-codec.ts";
export { directiveCodec, effectCodec, scopeCodec, signalCodec } from "./decode/effect-codec.ts";
export { environmentSpecCodec } from "./decode/environment-spec-codec.ts";
export { errorFromJSON, serializedErrorCodec } from "./decode/error-from-json.ts";
export {
  durableEventCodec,
  emittedEventCodec,
  eventCodec,
  isEmittedType,
  isEventType,
  transientEventCodec,
  waitCodec,
} from "./decode/event-codec.ts";
export { inboxMessageCodec } from "./decode/inbox-message-codec.ts";
export { inferEventCodec } from "./decode/infer-event-codec.ts";
export { contentCodec, messageCodec } from "./decode/message-codec.ts";
export {
  exitReasonCodec,
  operatorConfigCodec,
  operatorInputCodec,
  operatorMetadataCodec,
  operatorOutputCodec,
  queryCodec,
} from "./decode/operator-codec.ts";
export { authorityCodec, permissionPolicyCodec, permissionRuleCodec } from "./decode/permission-codec.ts";
export { sessionCodec, sessionMetadataCodec } from "./decode/session-codec.ts";
export { usageCodec } from "./decode/usage-codec.ts";
export { usdCodec } from "./decode/usd-codec.ts";
export { type Upcast, versioned } from "./decode/versioned.ts";
export { operatorMetadataOf } from "./convert/operator-metadata-of.ts";
export {
  PROVIDER_ERROR_RETRYABLE,
  type ProviderErrorKind,
  type ProviderFailure,
  fromProviderFailure,
  toProviderFailure,
} from "./convert/provider-error.ts";
export { panicError, toAgentError } from "./convert/to-agent-error.ts";
export { toOperatorError, toOperatorFailure, toolToOperatorFailure } from "./convert/to-operator-error.ts";
export { toOperatorExitReason } from "./convert/to-operator-exit-reason.ts";
export { toEnvironmentError, toEnvironmentFailure, toOrchestratorError, toOrchestratorFailure } from "./convert/to-orchestrator-error.ts";
export { type AgentStopReason, formatStopReason, toStopReason } from "./convert/to-stop-reason.ts";
export { type TerminationReason, toTerminationReason } from "./convert/to-termination-reason.ts";
export { type AgentResponse, type AgentStep, type StepResponseEvent, toStepResponseEvents } from "./convert/to-step-response-events.ts";
export { checkOptionNames, meantOption, type OptionNames } from "./options/check-option-names.ts";
export { nearestName } from "./options/nearest-name.ts";
export { BOUND_OPTION, FLAG_OPTION, FUNCTION_OPTION, type OptionRule, POSITIVE_OPTION } from "./options/option-rules.ts";

export { agentTool } from "./definition/children/agent-tool.ts";
export type { AgentTool, AgentToolOptions } from "./definition/agent.ts";
export type { TaskCall, TaskRunner } from "./turn/task-runner.ts";
export { handoffTool, openHandoff, type Handoff, type HandoffOptions, type HandoffTool } from "./definition/children/handoff.ts";
export type { ChildView } from "./definition/child-view.ts";
export type { SpawnConfig } from "./features/children/spawn-config.ts";
export type { Agent, AgentChanges, AgentOptions, JsonAgentOptions, Compact, ModelChoice, ModelErrorAction } from "./definition/agent.ts";
export type { CompactionOptions } from "./definition/compaction/compaction-options.ts";
export type { AgentLimits } from "./definition/limits.ts";
export type { RunContext } from "./definition/run-context.ts";
export { createAgent } from "./definition/create-agent.ts";
export type { AgentContextRequest, ContextFactory, ContextRequest } from "./definition/tool-context/context-factory.ts";
export { checkApprovalKeys, createEphemeralApprovalKeys, type ApprovalKey, type ApprovalKeys } from "./turn/approval-keys.ts";
export { loadApprovalKeys } from "./features/approvals/load-approval-keys.ts";
export { createApprovalTokens, type ApprovalClaims, type ApprovalTokens } from "./features/approvals/approval-token.ts";
export { autoApprove, autoDeny, thresholdGate } from "./features/approvals/threshold-gate.ts";
export {
  createDirectivePayloads,
  createFilterChain,
  defineEffectTool,
  stateOnly,
  withDirective,
  withDirectives,
  type CustomDirective,
  type DirectivePayloads,
  type EffectToolDefinition,
  type EffectToolFields,
  type FilterChain,
  type PayloadCodec,
  type PayloadTypes,
} from "./features/effects/index.ts";
export type { Advanced, NextAdvance } from "./runner/advance-run.ts";
export type { CustomOutputMode, ExtractContext, OutputModeOption, ToolOutputMode } from "./definition/output/output-mode.ts";
export type { PartialValue } from "./definition/output/partial-value.ts";
export { compilePolicy } from "./definition/permissions/compiled-policy.ts";
export { decidePermission } from "./features/permissions/decide-permission.ts";
export { checkGrantedPatterns } from "./definition/permissions/granted-rules.ts";
export type { PermissionDecision } from "./definition/permissions/permission-decision.ts";
export { narrowAuthority, type AuthorityNarrowing } from "./definition/permissions/narrow-authority.ts";
export {
  rulesFromClaude,
  type RulesFromClaude,
  type RulesFromClaudeOptions,
  type UntranslatedRule,
} from "./definition/permissions/rules-from-claude.ts";
export type { BeginOptions, Budget, PendingApproval, Run, RunInput, RunOptions } from "./definition/run.ts";
export type {
  CompleteOutcome,
  EndedOutcome,
  FailedOutcome,
  HaltedOutcome,
  RunOutcome,
  SuspendedOutcome,
} from "./definition/run-outcome.ts";
export type { Recovery } from "./runner/recover-runs.ts";
export type { Rehearsal } from "./runner/rehearsal/rehearse.ts";
export type { RehearseOptions } from "./runner/rehearsal/rehearse-options.ts";
export type { RehearsalVerdict, RehearsedSession } from "./runner/rehearsal/rehearsed-session.ts";
export { runnerInternals, type RunnerInternals } from "./runner/runner-internals.ts";
export { createRunnerWith, type OutputOf, type Runner, type SingleRunner } from "./runner/runner.ts";
export type { DebugFile } from "../platform/debug-file.ts";
export type { McpServers } from "./turn/mcp-servers.ts";
export type { RunnerServices } from "./turn/runner-services.ts";
export type { Agents } from "./definition/agent.ts";
export { reactLoop, type ReactLoopOptions } from "./runner/react-loop.ts";
export type { GuardOptions, Hook, HookContext, HookOptions, HookRegistration, HookSubject } from "./definition/hooks/hook.ts";
export { createHookRegistry, type HookRegistry } from "./definition/hooks/hook-registry.ts";
export type { AfterTurn, BeforeTurn, TurnContext, TurnEnd } from "./definition/hooks/turn-callback.ts";
export type { DeferToolsOptions } from "./definition/tool-sources/defer-tools.ts";
export type { SignalContext, SignalHandler, SignalResponse } from "./definition/signals/signal-handler.ts";
export { createSignalRouter, signalRoute, type SignalRouter } from "./definition/signals/signal-router.ts";
export { waitForSignalTool, type WaitForSignalOptions, type WaitForSignalTool } from "./definition/signals/wait-for-signal-tool.ts";
export { closureGuard } from "./definition/strategies/closure-guard.ts";
export { directStrategy, type DirectStrategy } from "./definition/strategies/direct-strategy.ts";
export { FsmStrategy, FsmStrategyWithRoutes } from "./definition/strategies/fsm-strategy.ts";
export { fsmStrategy, type FsmStrategyBuilder, type FsmStrategyOptions } from "./definition/strategies/fsm-strategy-builder.ts";
export type { StateMachine } from "./definition/strategies/state-machine.ts";
export type { ExecutionStrategy } from "./definition/strategies/strategy.ts";
export { hooksFromJson, type HooksFromJsonOptions } from "./features/hooks/hooks-from-json.ts";
export { createShellHook, type ShellHookOptions } from "./features/hooks/shell-hook.ts";
export { loadJsonPatch, type JsonPatch, type JsonPatcher, type JsonPatchOperation } from "../json/json-patch.ts";
export { createMiddlewareStack, type AroundMiddleware, type MiddlewareStack } from "./definition/middleware/middleware-stack.ts";
export { definePromptMiddleware, type ConversationSize, type PromptMiddleware } from "./definition/middleware/prompt-middleware.ts";
export { isOverThreshold, summarisationMark } from "./definition/middleware/summarisation-mark.ts";
export {
  definePlugin,
  type MemoryEffect,
  type Plugin,
  type PluginCallbacks,
  type PluginDirectives,
  type PluginEvent,
  type PluginEventType,
  type PluginOptions,
  type PluginState,
  type PluginStateKey,
} from "./definition/plugins/define-plugin.ts";
export { PluginStateMap, type Immutable, type PluginHandle } from "./features/plugins/plugin-state-map.ts";
// What its signatures are made of, so that the protocol need not be installed beside this package.
export type {
  AgentEvent,
  Approver,
  Decision,
  Effect,
  EffectExecutor,
  ExecutionContext,
  OpenQuestion,
  Signal,
  Tool,
} from "@keelson/protocol";

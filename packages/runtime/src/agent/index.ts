export { agentTool, type AgentTool, type AgentToolOptions } from "./children/agent-tool.ts";
export type { TaskCall, TaskRunner } from "./children/background-task.ts";
export { handoffTool, openHandoff, type Handoff, type HandoffOptions, type HandoffTool } from "./children/handoff.ts";
export type { ChildView } from "./children/list-children.ts";
export type { SpawnConfig } from "./children/spawn-config.ts";
export {
  createAgent,
  type Agent,
  type AgentChanges,
  type AgentLimits,
  type AgentOptions,
  type JsonAgentOptions,
  type Compact,
  type ModelChoice,
  type ModelErrorAction,
  type RunContext,
} from "./agent.ts";
export { checkApprovalKeys, createEphemeralApprovalKeys, type ApprovalKey, type ApprovalKeys } from "./approvals/approval-keys.ts";
export { loadApprovalKeys } from "./approvals/load-approval-keys.ts";
export { createApprovalTokens, type ApprovalClaims, type ApprovalTokens } from "./approvals/approval-token.ts";
export { autoApprove, autoDeny, thresholdGate } from "./approvals/threshold-gate.ts";
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
} from "./effects/index.ts";
export type { Next } from "./loop/run-turns.ts";
export type { CustomOutputMode, ExtractContext, OutputModeOption, ToolOutputMode } from "./output/output-mode.ts";
export type { PartialValue } from "./output/partial-value.ts";
export { compilePolicy } from "./permissions/compiled-policy.ts";
export { decidePermission } from "./permissions/decide-permission.ts";
export { checkGrantedPatterns } from "./permissions/granted-rules.ts";
export type { PermissionDecision } from "./permissions/permission-decision.ts";
export { narrowAuthority, type AuthorityNarrowing } from "./permissions/narrow-authority.ts";
export {
  rulesFromClaude,
  type RulesFromClaude,
  type RulesFromClaudeOptions,
  type UntranslatedRule,
} from "./permissions/rules-from-claude.ts";
export type { Budget, PendingApproval, Run, RunInput, RunOptions } from "./run.ts";
export type { CompleteOutcome, EndedOutcome, FailedOutcome, HaltedOutcome, RunOutcome, SuspendedOutcome } from "./run-outcome.ts";
export type { Recovery } from "./recover-runs.ts";
export { createRunnerWith, runnerInternals, type OutputOf, type Runner, type RunnerInternals, type SingleRunner } from "./runner.ts";
export type { DebugFile } from "../platform/debug-file.ts";
export type { Agents, World } from "./world.ts";
export { reactLoop, type ReactLoopOptions } from "./react-loop.ts";
export type { GuardOptions, Hook, HookContext, HookOptions, HookRegistration, HookSubject } from "./hooks/hook.ts";
export { createHookRegistry, type HookRegistry } from "./hooks/hook-registry.ts";
export type { AfterTurn, BeforeTurn, TurnContext, TurnEnd } from "./hooks/turn-callbacks.ts";
export type { SignalContext, SignalHandler, SignalResponse } from "./signals/signal-handler.ts";
export { createSignalRouter, signalRoute, type SignalRouter } from "./signals/signal-router.ts";
export { waitForSignalTool, type WaitForSignalOptions, type WaitForSignalTool } from "./signals/wait-for-signal-tool.ts";
export { closureGuard } from "./strategies/closure-guard.ts";
export { directStrategy, type DirectStrategy } from "./strategies/direct-strategy.ts";
export { FsmStrategy, FsmStrategyWithRoutes } from "./strategies/fsm-strategy.ts";
export { fsmStrategy, type FsmStrategyBuilder, type FsmStrategyOptions } from "./strategies/fsm-strategy-builder.ts";
export type { StateMachine } from "./strategies/state-machine.ts";
export type { ExecutionStrategy } from "./strategies/strategy.ts";
export { hooksFromJson, type HooksFromJsonOptions } from "./hooks/hooks-from-json.ts";
export { createShellHook, type ShellHookOptions } from "./hooks/shell-hook.ts";
export { loadJsonPatch, type JsonPatch, type JsonPatcher, type JsonPatchOperation } from "../json/json-patch.ts";
export { createMiddlewareStack, type AroundMiddleware, type MiddlewareStack } from "./middleware/middleware-stack.ts";
export { definePromptMiddleware, type ConversationSize, type PromptMiddleware } from "./middleware/prompt-middleware.ts";
export { isOverThreshold, summarisationMark } from "./middleware/summarisation-mark.ts";
export {
  definePlugin,
  type Plugin,
  type PluginCallbacks,
  type PluginDirectives,
  type PluginEvent,
  type PluginEventType,
  type PluginOptions,
  type PluginState,
  type PluginStateKey,
} from "./plugins/define-plugin.ts";
export { PluginStateMap, type Immutable, type PluginHandle } from "./plugins/plugin-state-map.ts";
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

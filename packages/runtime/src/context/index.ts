export { budgetGuard, type BudgetGuardOptions } from "./budget-guard.ts";
export {
  extractState,
  policyTrim,
  slidingWindow,
  resultsFirst,
  stubResults,
  summarise,
  type CompactionStrategy,
  type PolicyTrimOptions,
  type SlidingWindowOptions,
  type StubResultsOptions,
  type SummariseOptions,
} from "./compaction/strategy.ts";
export { compactionRule, type CompactionRuleOptions } from "./compaction/compaction-rule.ts";
export type { SummaryModel } from "./compaction/compact-in-memory.ts";
export { applyStrategy, type Shortening } from "./compaction/apply-strategy.ts";
export { foldIntoSummary, type Foldable } from "./room/fold-into-summary.ts";
export type { Entry } from "./room/entry.ts";
export { compileRequest, type CompileOptions, type InferenceSettings } from "./compile-request.ts";
export { Context } from "./context.ts";
export type { ContextBinding, Operation } from "./rule.ts";
export { Conversation } from "./conversation.ts";
export {
  ruleAfter,
  ruleBefore,
  ruleWhen,
  type ContextMetrics,
  type OperationType,
  type Rule,
  type RuleAction,
  type RuleEvent,
  type RuleTrigger,
} from "./rule.ts";
export { injectReminder, rulesFrom, type CallResult, type LoopView, type RuleMethods, type SkippedCall } from "./rule-methods.ts";
export { isMemoryMessage, memoryMessage } from "./memory-message.ts";
export { type DeferredTools } from "./xray/deferred-tools.ts";
export { type Xray, type XrayOptions, type XrayPart, type XraySource, xrayRequest } from "./xray/xray-request.ts";
export type { SystemFile } from "./xray/system-files.ts";
export type { PlannedRequest } from "./xray/xray-conversation.ts";
export { telemetryRecorder } from "./telemetry-recorder.ts";
export { createSingleShotOperator, type SingleShotOptions } from "./single-shot-operator.ts";
// What its signatures are made of, so that the protocol need not be installed beside this package.
export type { Message, Operator } from "@keelson/protocol";

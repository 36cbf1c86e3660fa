export { budgetGuard, type BudgetGuardOptions } from "./budget-guard.ts";
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
export { telemetryRecorder } from "./telemetry-recorder.ts";
export { createSingleShotOperator, type SingleShotOptions } from "./single-shot-operator.ts";
// What its signatures are made of, so that the protocol need not be installed beside this package.
export type { Message, Operator } from "@keelson/protocol";

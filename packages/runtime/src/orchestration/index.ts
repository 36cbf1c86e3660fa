export { agentOperator } from "./agent-operator.ts";
export { agentOperators } from "./agent-operators.ts";
export { authorityBelow } from "./authority-below.ts";
export {
  createDurableOrchestrator,
  type AnyRunner,
  type DurableOrchestrator,
  type DurableOrchestratorOptions,
} from "./create-durable-orchestrator.ts";
export { dispatchTasks } from "./dispatch-tasks.ts";
export {
  createEffectExecutor,
  createLocalEffectExecutor,
  executeEffects,
  memoryLinkKey,
  noOpExecutor,
  type DirectiveHandlers,
  type EffectExecutorOptions,
  type EffectHandlers,
  type EffectResult,
  type Handler,
  type LocalEffectExecutorOptions,
} from "./effects/index.ts";
export { createLocalOrchestrator, type LocalOrchestrator, type LocalOrchestratorOptions } from "./local-orchestrator.ts";
export { OperatorContext, type OperatorContextOptions } from "./operator-context.ts";
export { chain, type ChainResult } from "./patterns/chain.ts";
export { delegate, type DelegateOptions } from "./patterns/delegate.ts";
export { fanIn, type FanInOptions } from "./patterns/fan-in.ts";
export { fanOut, type FanOutOptions, type FanOutTask } from "./patterns/fan-out.ts";
export { handoff, type HandoffPatternOptions, type HandoffResult } from "./patterns/handoff.ts";
export { intervene, type Intervention } from "./patterns/intervene.ts";
export { observe, type ObserveOptions } from "./patterns/observe.ts";
export { endedWell, type PatternOptions, type PatternTask } from "./patterns/pattern-task.ts";
export { createScheduler, type SchedulerOptions } from "./schedules/create-scheduler.ts";
export type {
  FiredInstant,
  Missed,
  ScheduleId,
  ScheduleProblem,
  ScheduleRequest,
  Scheduler,
  ScheduleTick,
  ScheduleView,
} from "./schedules/scheduler.ts";
export { operatorInput } from "@keelson/protocol";
// What its signatures are made of, so that the protocol need not be installed beside this package.
export type { EffectExecutor, Operator, OperatorInput, OperatorOutput, Orchestrator, Signal } from "@keelson/protocol";

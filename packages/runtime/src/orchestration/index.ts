export { agentOperator } from "./agent-operator.ts";
export { authorityBelow } from "./authority-below.ts";
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

export { agentOperator } from "./agent-operator.ts";
export { authorityBelow } from "./authority-below.ts";
export { dispatchTasks } from "./dispatch-tasks.ts";
export { createLocalOrchestrator, type LocalOrchestrator, type LocalOrchestratorOptions } from "./local-orchestrator.ts";

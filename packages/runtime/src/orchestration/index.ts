export { agentOperator } from "./agent-operator.ts";
export { createLocalOrchestrator, type LocalOrchestrator, type LocalOrchestratorOptions } from "./local-orchestrator.ts";

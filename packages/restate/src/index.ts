export { createRestateOrchestrator } from "./create-restate-orchestrator.ts";
export type { RestateOrchestrator, RestateOrchestratorOptions } from "./create-restate-orchestrator.ts";
export { serveRestate } from "./serve-restate.ts";
export type { RestateEndpoint, ServeRestateOptions } from "./serve-restate.ts";

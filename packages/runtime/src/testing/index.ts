export { chaos, type ChaosOptions } from "./chaos/chaos.ts";
export { chaosFaults } from "./chaos/chaos-faults.ts";
export { createDisturbance, type DisturbanceOptions, type ProcessDisturbance } from "./chaos/create-disturbance.ts";
export type { ChaosEngine, ChaosProcess } from "./chaos/engine.ts";
export type { ChaosFault, FaultHand } from "./chaos/fault.ts";
export type { ChaosFailure, ChaosReport } from "./chaos/report.ts";
export type { ChaosScene, ChaosServices, ChaosStores, ChaosTime } from "./chaos/scene.ts";
export type { ChaosSeam, ChaosStep } from "./chaos/step.ts";
export { type MockEnvironment, mockEnvironment } from "./mocks/mock-environment.ts";
export { type MockExecutionContext, type MockExecutionContextOptions, mockExecutionContext } from "./mocks/mock-execution-context.ts";
export { type MockOutput, type MockOperator, mockOperator } from "./mocks/mock-operator.ts";
export { type MockOrchestrator, mockOrchestrator } from "./mocks/mock-orchestrator.ts";
export { type MockStateStore, type MockStateStoreOptions, mockStateStore } from "./mocks/mock-state-store.ts";
export { type MockTool, type MockToolResult, mockTool } from "./mocks/mock-tool.ts";
export {
  scriptedModel,
  type ScriptedResponse,
  type ScriptedModel,
  type ScriptedModelOptions,
  type ScriptedTurn,
} from "./scripted-model.ts";
export {
  type Cassette,
  type CassetteInteraction,
  type CassettePlayer,
  type CassetteRecorder,
  type RecordOptions,
  loadCassette,
  recordCassette,
  replayCassette,
} from "./cassette.ts";
export { REDACTED, type RedactionOptions } from "./cassette-redaction.ts";
export {
  type Misbehaviour,
  type ModelServer,
  type ModelServerOptions,
  type ServerRequest,
  type ServerScript,
  type ServerToolCall,
  type ServerTurn,
  startModelServer,
} from "./model-server.ts";
export { type RequestMessage, requestMessages } from "./model-server/request-messages.ts";
export {
  type RequestFacts,
  type RequestProblem,
  type ValidatedWire,
  VALIDATED_WIRES,
  validateRequest,
} from "./request-validation/validate-request.ts";
// What its signatures are made of, so that the protocol need not be installed beside this package.
export type { BlobStore, EventLog, Operator, Orchestrator, Provider, StateStore, Tool } from "@keelson/protocol";

// What an engine and its workers need to be held to `describeEngine` of `keelson/testing/contracts`; it needs no vitest.
export { createScenarioRunner, type ScenarioServices } from "./engine-contract/create-scenario-runner.ts";
export { ENGINE_SCENARIOS } from "./engine-contract/engine-scenarios.ts";
export type { EngineScenario, ScenarioAct } from "./engine-contract/engine-scenario.ts";
export { ERASURES, type Erasure, type NormalisedLog, type NormalisedRecord, normaliseLog } from "./engine-contract/normalise-log.ts";
export { openOneGo } from "./engine-contract/open-one-go.ts";
export { type OnUnknown, type PlayedScenario, playScenario } from "./engine-contract/play-scenario.ts";
export type { CreateScenarioEngine, ScenarioEngine } from "./engine-contract/scenario-engine.ts";
export { type ScenarioClock, scenarioClock } from "./engine-contract/scenario-clock.ts";
export type { ScenarioKit, ScenarioToolOptions, ScenarioTurn } from "./engine-contract/scenario-kit.ts";
export { type SessionRecords, readSessionRecords } from "./engine-contract/session-records.ts";
export { type CountedCall, countedCalls } from "./engine-contract/tool-counters.ts";
export { writeFaults } from "./engine-contract/write-faults.ts";

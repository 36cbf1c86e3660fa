// Needs vitest, which the rest of `keelson/testing` does not.
export { describeBlobStore } from "./blob-store-contract.ts";
export { type CreateBudgetLedger, describeBudgetLedger } from "./budget-ledger-contract.ts";
export { describeEngine, type EngineContractOptions } from "./engine-contract.ts";
export { describeEnvironment, type EnvironmentContractOptions } from "./environment-contract.ts";
export { describeEventLog } from "./event-log-contract.ts";
export type { CreateEventLog } from "./event-log-contract/create-event-log.ts";
export { describeExecutor } from "./executor-contract.ts";
export type { ExecutorContractOptions } from "./executor-contract/executor-subject.ts";
export { describeLogIndex } from "./log-index-contract.ts";
export { type CreateOrchestrator, describeOrchestrator } from "./orchestrator-contract.ts";
export { describeStateStore, type StateStoreSubject } from "./state-store-contract.ts";
export { describeVfs } from "./vfs-contract.ts";
export type { CreateVfs, VfsContent, VfsContractOptions } from "./vfs-contract/create-vfs.ts";

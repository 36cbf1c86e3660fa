// Needs vitest, which the rest of `keelson/testing` does not.
export { describeBlobStore } from "./blob-store-contract.ts";
export { type CreateBudgetLedger, describeBudgetLedger } from "./budget-ledger-contract.ts";
export { type CreateEventLog, describeEventLog } from "./event-log-contract.ts";
export { type CreateOrchestrator, describeOrchestrator } from "./orchestrator-contract.ts";

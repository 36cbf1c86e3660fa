export { createMemoryBlobStore, type MemoryBlobStoreOptions } from "./memory-blob-store.ts";
export { createMemoryBudgetLedger, type MemoryBudgetLedgerOptions } from "./memory-budget-ledger.ts";
export { createMemoryEventLog, type MemoryEventLogOptions } from "./memory-event-log.ts";

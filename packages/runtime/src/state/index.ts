export { createMemoryBlobStore, type MemoryBlobStoreOptions } from "./memory-blob-store.ts";
export { createMemoryBudgetLedger, type MemoryBudgetLedgerOptions } from "./memory-budget-ledger.ts";
export { createMemoryEventLog, type MemoryEventLogOptions } from "./memory-event-log.ts";
export { isDeadOwner, processOwner } from "./process-owner.ts";
export { createSqliteBlobStore, type SqliteBlobStoreOptions } from "./sqlite-blob-store.ts";
export { createSqliteBudgetLedger, type SqliteBudgetLedger, type SqliteBudgetLedgerOptions } from "./sqlite-budget-ledger.ts";
export { createSqliteEventLog, type SqliteEventLogOptions } from "./sqlite-event-log.ts";
export { checkSqliteDatabase } from "./check-sqlite-database.ts";
// What its signatures are made of, so that the protocol need not be installed beside this package.
export type { BlobStore, BudgetLedger, EventLog, StateStore } from "@keelson/protocol";

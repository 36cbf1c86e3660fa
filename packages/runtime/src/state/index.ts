export { createMemoryBlobStore, type MemoryBlobStoreOptions } from "./memory/memory-blob-store.ts";
export { createMemoryBudgetLedger, type MemoryBudgetLedgerOptions } from "./memory/memory-budget-ledger.ts";
export { createMemoryEventLog, type MemoryEventLogOptions } from "./memory/memory-event-log.ts";
export { isDeadOwner, processOwner } from "../platform/process-owner.ts";
export { createSqliteBlobStore, type SqliteBlobStoreOptions } from "./sqlite/sqlite-blob-store.ts";
export { createSqliteBudgetLedger, type SqliteBudgetLedger, type SqliteBudgetLedgerOptions } from "./sqlite/sqlite-budget-ledger.ts";
export { createSqliteEventLog, type SqliteEventLog, type SqliteEventLogOptions } from "./sqlite/sqlite-event-log.ts";
export { checkSqliteDatabase } from "./sqlite/check-sqlite-database.ts";
// What its signatures are made of, so that the protocol need not be installed beside this package.
export type { BlobStore, BudgetLedger, EventLog, StateStore } from "@keelson/protocol";

export { createMemoryBlobStore, type MemoryBlobStoreOptions } from "./memory/memory-blob-store.ts";
export { createMemoryBudgetLedger, type MemoryBudgetLedgerOptions } from "./memory/memory-budget-ledger.ts";
export { createMemoryStore, type MemoryStoreOptions } from "./memory/memory-store.ts";
export { createMemoryEventLog, type MemoryEventLogOptions } from "./memory/memory-event-log.ts";
export { createFsStore, type FsStoreOptions } from "./fs/fs-store.ts";
export { isDeadOwner, processOwner } from "../platform/process-owner.ts";
export { createSqliteBlobStore, type SqliteBlobStoreOptions } from "./sqlite/sqlite-blob-store.ts";
export { createSqliteBudgetLedger, type SqliteBudgetLedger, type SqliteBudgetLedgerOptions } from "./sqlite/sqlite-budget-ledger.ts";
export { createSqliteEventLog, type SqliteEventLog, type SqliteEventLogOptions } from "./sqlite/sqlite-event-log.ts";
export { createSqliteStore, type SqliteStoreOptions } from "./sqlite/sqlite-store.ts";
export { auditStore, type AuditStoreOptions, type StoreAuditEntry } from "./kit/audit-store.ts";
export { cacheStore, type CacheStoreOptions } from "./kit/cache-store.ts";
export { type ReachedKey, traverseLinks, type TraverseOptions } from "./kit/traverse-links.ts";
export { checkSqliteDatabase } from "./sqlite/check-sqlite-database.ts";
// What its signatures are made of, so that the protocol need not be installed beside this package.
export type { BlobStore, BudgetLedger, EventLog, StateStore } from "@keelson/protocol";

import { join } from "node:path";
import { createSqliteBlobStore, createSqliteBudgetLedger, createSqliteEventLog } from "keelson/state";
import { scenarioClock, type ScenarioServices } from "keelson/testing/engines";

/** What processes share: one directory with a database, and what the scenarios leave beside it. */
export function openSqliteServices(directory: string): Omit<ScenarioServices, "orchestrator"> & AsyncDisposable {
  const path = join(directory, "sessions.db");
  const now = (): number => scenarioClock(directory).now();
  const log = createSqliteEventLog({ path, now });
  const blobs = createSqliteBlobStore(path);
  const ledger = createSqliteBudgetLedger({ path: join(directory, "ledger.db") });
  return {
    directory,
    log,
    blobs,
    ledger,
    async [Symbol.asyncDispose]() {
      await ledger[Symbol.asyncDispose]();
      await blobs[Symbol.asyncDispose]();
      await log[Symbol.asyncDispose]();
    },
  };
}

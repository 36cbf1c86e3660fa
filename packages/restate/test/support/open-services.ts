import { join } from "node:path";
import { createSqliteBlobStore, createSqliteBudgetLedger, createSqliteEventLog } from "keelson/state";
import { scenarioClock, type ScenarioServices } from "keelson/testing/engines";

type Services = Omit<ScenarioServices, "orchestrator"> & AsyncDisposable;

/** Another module that opens them: what this package does, it does on other stores as well. */
const elsewhere = process.env["KEELSON_TEST_STORES"];
const other = elsewhere === undefined ? undefined : ((await import(elsewhere)) as { openServices(directory: string): Services });

/** What the workers of one application share: a directory with databases, and what scenarios leave beside them. */
export function openServices(directory: string): Services {
  if (other !== undefined) return other.openServices(directory);
  const path = join(directory, "sessions.db");
  const log = createSqliteEventLog({ path, now: () => scenarioClock(directory).now() });
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

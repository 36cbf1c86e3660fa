import { hash } from "node:crypto";
import { createPostgres } from "@keelson/postgres";
import { scenarioClock, type ScenarioServices } from "keelson/testing/engines";

/** What the workers of one application share, in a schema named after their directory: that holds only what scenarios leave beside the stores. */
export function openServices(directory: string): Omit<ScenarioServices, "orchestrator"> & AsyncDisposable {
  const stores = createPostgres({
    connectionString: process.env["KEELSON_TEST_POSTGRES"],
    schema: `d${hash("sha256", directory, "hex").slice(0, 16)}`,
    maxConnections: 3,
    now: () => scenarioClock(directory).now(),
  });
  const { log, blobs, ledger } = stores;
  return { directory, log, blobs, ledger, [Symbol.asyncDispose]: () => stores.close() };
}
